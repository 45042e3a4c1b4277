#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A private folder (0700) for the sockets and pipes of one connection: nobody else can talk to its
/// master, and the user's own ControlMaster is never met.
struct ControlFolder: Sendable {
  let path: String
  /// Where the master listens.
  var socket: String { path + "/m" }

  /// A Unix socket's path has 104 bytes on macOS and BSD, 108 on Linux (sun_path), its end mark
  /// included; `ssh` binds it first with a dot and 16 letters behind the name.
  static let longestSocketPath = 104 - 1 - 17

  /// - Throws: `SSHError` kind `.badConfiguration` when no folder can be made.
  init(host: String) throws(SSHError) {
    var reason = "their paths are too long"
    for parent in [environment("TMPDIR"), "/tmp"].compactMap({ $0 }) where parent.hasPrefix("/") {
      let template = (parent.hasSuffix("/") ? parent : parent + "/") + "pocket.XXXXXX"
      guard template.utf8.count + "/m".utf8.count <= Self.longestSocketPath else { continue }
      var bytes = Array(template.utf8CString)
      if mkdtemp(&bytes) != nil {
        path = bytes.text
        return
      }
      reason = SystemError.last().words
    }
    throw SSHError(
      .configuration, .badConfiguration, host: host,
      "No folder for the connection's socket in $TMPDIR or /tmp: \(reason)")
  }

  /// Makes a named pipe and opens both its ends: it never ends, whoever else opens or closes it.
  func makePipe(_ name: String) throws(SystemError) -> Int32 {
    let path = self.path + "/" + name
    guard mkfifo(path, 0o600) == 0 else { throw .last() }
    let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard pipe >= 0 else { throw .last() }
    return pipe
  }

  /// Removes a pipe's name; whoever has it open keeps it.
  func forget(_ name: String) { unlink(path + "/" + name) }

  /// Removes the folder with all that is in it.
  func remove() {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { forget(name) }
      }
      closedir(folder)
    }
    rmdir(path)
  }
}
