#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Access to the files that a configuration names.
enum UserFiles {
  /// Set in every test process: no test may touch the user's own keys and known hosts.
  static let testingVariable = "POCKET_TESTING"

  static var isTesting: Bool { getenv(testingVariable) != nil }

  /// The home folder of the user, from the password database, as ssh has it: not `$HOME`.
  static let home: String = homeFolder(of: nil) ?? "/"

  /// The home folder of a named user, or of this one.
  static func homeFolder(of name: String?) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16384)
    if let name {
      getpwnam_r(name, &entry, &buffer, buffer.count, &found)
    } else {
      getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
    }
    guard found != nil, let folder = entry.pw_dir else { return nil }
    return String(cString: folder)
  }

  /// In a test process, refuses everything under the user's real `~/.ssh`.
  static func check(_ path: String, host: String) throws(SSHError) {
    guard isTesting else { return }
    let forbidden = [home, resolved(home)].map { $0 + "/.ssh" }
    for candidate in [path, resolved(path)]
    where forbidden.contains(where: { candidate == $0 || candidate.hasPrefix($0 + "/") }) {
      throw SSHError(
        .configuration, .badConfiguration, host: host,
        "\(path) is the user's own, and this is a test (\(testingVariable) is set)",
        advice: "Name IdentityFile and UserKnownHostsFile in the test's own configuration")
    }
  }

  /// Without symbolic links, as far as the path exists.
  private static func resolved(_ path: String) -> String {
    if let pointer = realpath(path, nil) {
      defer { free(pointer) }
      return String(cString: pointer)
    }
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return path }
    return resolved(String(path[..<slash])) + path[slash...]
  }

  /// A whole file, at most 64 MiB of it.
  static func read(_ path: String) -> Result<[UInt8], SystemError> {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return .failure(.last()) }
    defer { close(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while content.count < 64 << 20 {
      #if canImport(Glibc)
        let count = Glibc.read(file, &chunk, chunk.count)
      #else
        let count = Darwin.read(file, &chunk, chunk.count)
      #endif
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        return .failure(.last())
      }
      content += chunk[..<count]
    }
    return .success(content)
  }
}
