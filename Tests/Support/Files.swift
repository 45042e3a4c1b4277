#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Whether something is at `path` (a broken symbolic link is something).
package func fileExists(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0
}

/// The size of the file at `path` in bytes.
package func fileSize(_ path: String) throws -> Int {
  var status = stat()
  try check("stat \(path)") { stat(path, &status) }
  return Int(status.st_size)
}

/// All bytes of a file.
package func readFile(_ path: String) throws -> [UInt8] {
  let file = try check("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) }
  defer { close(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 256 * 1024)
  while true {
    let count = try check("read \(path)") { read(file, &buffer, buffer.count) }
    if count == 0 { return bytes }
    bytes += buffer[..<count]
  }
}

/// A file's bytes as text; what is not UTF-8 is replaced, so this is for messages and logs.
package func readText(_ path: String) throws -> String {
  String(decoding: try readFile(path), as: UTF8.self)
}

/// Writes a whole file, with exactly this mode whatever the umask; what was there is replaced.
package func writeFile(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
  try write(path, bytes, mode: mode, flags: O_CREAT | O_TRUNC)
}

/// Adds bytes at the end of a file, which is made if there is none.
package func appendToFile(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
  try write(path, bytes, mode: mode, flags: O_CREAT | O_APPEND)
}

private func write(_ path: String, _ bytes: [UInt8], mode: mode_t, flags: Int32) throws {
  let file = try check("open \(path)") { open(path, O_WRONLY | O_CLOEXEC | flags, mode) }
  defer { close(file) }
  try check("chmod \(path)") { fchmod(file, mode) }
  var done = 0
  while done < bytes.count {
    done += try bytes.withUnsafeBytes { raw in
      try check("write \(path)") { write(file, raw.baseAddress! + done, raw.count - done) }
    }
  }
}

/// The names in a folder but `.` and `..`; none when there is no such folder.
package func namesInFolder(_ path: String) -> [String] {
  guard let folder = opendir(path) else { return [] }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}
