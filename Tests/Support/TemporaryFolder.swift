#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder of the test's own, mode 0700, removed with all that is in it when this object goes.
/// Its path is short, since a Unix socket's path has room for about 100 bytes.
package final class TemporaryFolder: Sendable {
  /// The absolute path, without a symbolic link in it.
  package let path: String

  /// - Throws: `SystemError`.
  package init(_ name: String = "pocket") throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/\(name).XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp in \(base)") }
    guard let real = realpath(template, nil) else { throw SystemError("realpath in \(base)") }
    defer { free(real) }
    path = String(cString: real)
  }

  deinit { remove() }

  /// Removes the folder now; what is gone already is no error.
  package func remove() {
    do { try FileManager.default.removeItem(atPath: path) } catch {}
  }

  /// The path of `name` in this folder, whether it exists or not.
  package subscript(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a folder in this one and gives its path.
  package func folder(_ name: String, mode: mode_t = 0o700) throws -> String {
    try check("mkdir \(self[name])") { mkdir(self[name], mode) }
    return self[name]
  }

  /// Writes a file in this folder and gives its path.
  @discardableResult
  package func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws -> String {
    try writeFile(self[name], Array(text.utf8), mode: mode)
    return self[name]
  }
}
