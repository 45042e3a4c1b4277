#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reading and extending a known_hosts file. These calls block.
enum KnownHostsFile {
  /// The content, or nothing when there is no such file.
  static func read(_ path: String, host: String) throws(SSHError) -> [UInt8] {
    try UserFiles.check(path, host: host)
    switch UserFiles.read(path) {
    case .success(let bytes): return bytes
    case .failure(let error) where error.code == ENOENT: return []
    case .failure(let error):
      throw SSHError(
        .hostKey, .badConfiguration, host: host, "Cannot read \(path): \(error.words)")
    }
  }

  /// Adds a line for a key that the user has confirmed, in one write, so that several processes
  /// can do it at once.
  static func append(
    _ key: HostKey, name: KnownHostName, hashed: Bool, to path: String, host: String
  ) throws(SSHError) {
    try UserFiles.check(path, host: host)
    let field = hashed ? HashedHost.field(for: name.primary) : name.primary
    var line = [UInt8]("\(field) \(key.type) \(Data(key.blob).base64EncodedString())\n".utf8)
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    mkdir(folder, 0o700)
    let file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw cannotAdd(path, host) }
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    var last: UInt8 = 0x0A
    if size > 0, pread(file, &last, 1, size - 1) == 1, last != 0x0A { line.insert(0x0A, at: 0) }
    guard write(file, line, line.count) == line.count else { throw cannotAdd(path, host) }
  }

  private static func cannotAdd(_ path: String, _ host: String) -> SSHError {
    SSHError(
      .hostKey, .badConfiguration, host: host,
      "Cannot add the host key to \(path): \(SystemError.last().words)")
  }
}
