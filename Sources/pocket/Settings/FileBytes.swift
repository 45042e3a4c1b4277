#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Whole files and descriptors, as bytes.
enum FileBytes {
  /// The file's content; nil when there is no such file.
  ///
  /// - Parameter mustBeOwn: refuse a file that belongs to neither this user nor root. It is set for
  ///   files that are looked for in folders which others may write to, such as /tmp.
  /// - Throws: `CommandError` that names the file and the system's reason.
  static func ifPresent(_ path: String, mustBeOwn: Bool = false) throws(CommandError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(path, errno)
    }
    defer { close(descriptor) }
    if mustBeOwn {
      var facts = stat()
      guard fstat(descriptor, &facts) == 0 else { throw unreadable(path, errno) }
      guard facts.st_uid == getuid() || facts.st_uid == 0 else {
        throw CommandError(
          "settings", "\(path): belongs to another user, so it is not trusted", exit: .usage)
      }
    }
    return try toEnd(of: descriptor, called: path)
  }

  /// The content of a file that must be there.
  static func of(_ path: String) throws(CommandError) -> [UInt8] {
    guard let bytes = try ifPresent(path) else { throw unreadable(path, ENOENT) }
    return bytes
  }

  /// What can still be read from a descriptor. Blocks until its end.
  static func toEnd(of descriptor: Int32, called name: String) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 {
        return bytes
      } else if errno != EINTR {
        throw unreadable(name, errno)
      }
    }
  }

  private static func unreadable(_ path: String, _ number: Int32) -> CommandError {
    CommandError(
      "unreadable", "cannot read \(path): \(String(cString: strerror(number)))", exit: .usage)
  }
}
