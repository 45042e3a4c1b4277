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
    _ key: HostKey, name: String, hashed: Bool, to path: String
  ) -> Result<Void, SystemError> {
    let field = hashed ? HashedHost.field(for: name) : name
    var line = [UInt8]("\(field) \(key.type) \(Data(key.blob).base64EncodedString())\n".utf8)
    makeUserFolder(for: path)
    let file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return .failure(.last()) }
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    var last: UInt8 = 0x0A
    if size > 0, pread(file, &last, 1, size - 1) == 1, last != 0x0A { line.insert(0x0A, at: 0) }
    // On a full disk a part of it may be there: whoever reads it finds no key in it.
    return write(file, line, line.count) == line.count ? .success(()) : .failure(.last())
  }

  /// As ssh: no other folder than `~/.ssh` is made for the file.
  private static func makeUserFolder(for path: String) {
    let folder = UserFiles.home + "/.ssh"
    if path.hasPrefix(folder + "/") { mkdir(folder, 0o700) }
  }
}
