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
    var reason = "their paths are too long, or hold what ssh would expand"
    for parent in [environment("TMPDIR"), "/tmp"].compactMap({ $0 }) where parent.hasPrefix("/") {
      let template = (parent.hasSuffix("/") ? parent : parent + "/") + "pocket.XXXXXX"
      // ssh_config(5), TOKENS and ENVIRONMENT VARIABLES: also in what `-S` says.
      guard template.utf8.count + "/m".utf8.count <= Self.longestSocketPath,
        !template.contains("%"), !template.contains("${")
      else { continue }
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

  /// Makes a file for its owner alone.
  func makeFile(_ name: String, _ text: String, mode: mode_t = 0o600) throws(SystemError) {
    let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else { throw .last() }
    defer { closeDescriptor(file) }
    let bytes = Array(text.utf8)
    let count = write(file, bytes, bytes.count)
    if count < 0 { throw .last() }
    if count < bytes.count { throw SystemError(code: ENOSPC) }
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
