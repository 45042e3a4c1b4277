/// The system's `ssh`, found on PATH: which one it is, and what its configuration says of a host.
struct SSHProgram: Sendable {
  /// As it names itself: `OpenSSH_9.2p1`.
  let name: String
  private let version: (major: Int, minor: Int)

  private static let limit = Duration.seconds(5)

  /// nil when there is no `ssh`, or one that is not OpenSSH.
  static func find(host: HostName) async throws(SSHError) -> SSHProgram? {
    let answer = try await run(["-V"], host)
    guard let answer else { return nil }
    // It has said so on stderr from the beginning.
    return SSHProgram(banner: String(decoding: answer.standardError, as: UTF8.self))
  }

  /// - Parameter banner: the answer to `ssh -V`: `OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.11 …`.
  init?(banner: String) {
    guard let name = banner.split(whereSeparator: { " ,\n".contains($0) }).first,
      name.hasPrefix("OpenSSH_")
    else { return nil }
    let numbers = name.dropFirst("OpenSSH_".count).split(separator: ".", maxSplits: 1)
    guard numbers.count == 2, let major = Int(numbers[0]),
      let minor = Int(numbers[1].prefix { $0.isNumber })
    else { return nil }
    self.name = String(name)
    version = (major, minor)
  }

  /// Whether options that came with this version may be given: an older one refuses to start.
  func isAtLeast(_ major: Int, _ minor: Int) -> Bool { version >= (major, minor) }

  /// What `ssh -G` says of the host.
  func settings(
    of host: HostName, file: String?
  ) async throws(SSHError) -> ConfigurationValues {
    let settings = try await ConfigurationProgram.values(of: host, file: file)
    try Self.refuseUsersOwnFiles(settings, host)
    return settings
  }

  /// In a test: `ssh` itself would not ask whether it may.
  private static func refuseUsersOwnFiles(
    _ settings: ConfigurationValues, _ host: HostName
  ) throws(SSHError) {
    let files =
      settings.all("identityfile")
      + settings.all("userknownhostsfile").flatMap { $0.split(separator: " ").map(String.init) }
    for file in files {
      let path = file.hasPrefix("~/") ? UserFiles.home + file.dropFirst(1) : file
      try UserFiles.check(path, host: host.text)
    }
  }

  /// nil when there is no such program.
  private static func run(
    _ arguments: [String], _ host: HostName
  ) async throws(SSHError) -> ChildProcess.Output? {
    let expired = failure("ssh \(arguments[0]) did not end within \(limit)", host)
    return try await onOwnThread(deadline: limit + .seconds(1), expired: expired) {
      switch ChildProcess.run("ssh", arguments, limit: limit) {
      case .success(let output): .success(output)
      case .failure(.cannotStart): .success(nil)
      case .failure(.timedOut): .failure(expired)
      case .failure(.killed(let signal)):
        .failure(failure("ssh \(arguments[0]) was killed by signal \(signal)", host))
      }
    }
  }

  private static func failure(_ words: String, _ host: HostName) -> SSHError {
    SSHError(.configuration, .badConfiguration, host: host.text, words)
  }
}
