/// What a server's banner tells of its program (RFC 4253 §4.2).
struct ServerSoftware: Sendable {
  /// OpenSSH's version; nil for other programs.
  let openSSH: (major: Int, minor: Int)?

  init(banner: String) {
    let name = "OpenSSH_"
    // `SSH-2.0-OpenSSH_9.2p1 Debian-2`; on Windows `OpenSSH_for_Windows_9.5`.
    guard let start = banner.firstRange(of: name) else {
      openSSH = nil
      return
    }
    let digits = banner[start.upperBound...].drop { !$0.isNumber }
    let numbers = digits.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
    openSSH = (numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 0)
  }

  /// RFC 8332; since OpenSSH 7.2.
  var knowsRSAWithSHA2: Bool { openSSH.map { $0 >= (7, 2) } ?? false }
}
