#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where a store lies.
public struct StoreLocation: Sendable, Hashable {
  /// The database file's absolute path.
  public let path: String

  /// The store in the file at `path`, which must be absolute.
  public init(path: String) { self.path = path }

  /// The user's own store: `$POCKET_HOME/pocket.db`, else `$XDG_STATE_HOME/pocket/pocket.db`, else
  /// `~/.local/state/pocket/pocket.db`. A relative `$XDG_STATE_HOME` is passed over (XDG Base
  /// Directory Specification 0.8); a relative `$POCKET_HOME` is an error.
  public static func `default`(environment: [String: String]) throws(StoreError) -> StoreLocation {
    if let home = environment["POCKET_HOME"], !home.isEmpty {
      guard home.hasPrefix("/") else {
        throw .noPlace("POCKET_HOME is \"\(home)\", which is no absolute path")
      }
      return StoreLocation(path: "\(home)/pocket.db")
    }
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return StoreLocation(path: "\(state)/pocket/pocket.db")
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw .noPlace("HOME is not set to an absolute path")
    }
    return StoreLocation(path: "\(home)/.local/state/pocket/pocket.db")
  }

  /// The folder that holds the database and its companions.
  var folder: String {
    let end = path.utf8.lastIndex(of: 0x2F) ?? path.startIndex
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  /// The file whose lock orders all writers (flock(2)). It stays; only its lock matters.
  var lockPath: String { path + "-lock" }
}

// Invariant 10: tests touch nothing real.
extension StoreLocation {
  /// Throws when this process is a test and the store is not in a temporary folder.
  func refuseInTests() throws(StoreError) {
    let isTest = Self.isTestProcess(
      arguments: CommandLine.arguments, isMarked: getenv("POCKET_TESTING") != nil)
    let temporary = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
    if isTest, !isTemporary(in: temporary + Self.temporaryFolders) {
      throw .testProcess(path: path)
    }
  }

  /// Whether a process with these arguments runs tests; `isMarked`: `POCKET_TESTING` is set, as a
  /// harness does for the programs it starts.
  static func isTestProcess(arguments: [String], isMarked: Bool) -> Bool {
    let program = arguments.first ?? ""
    return isMarked || program.hasSuffix(".xctest") || program.hasSuffix("swiftpm-testing-helper")
      || arguments.contains("--testing-library")
  }

  /// Whether the file lies in one of `folders`, all symbolic links followed.
  func isTemporary(in folders: [String]) -> Bool {
    var folder = folder
    var real = Self.realPath(folder)
    while real == nil, folder != "/", !folder.isEmpty {
      folder = StoreLocation(path: folder).folder
      real = Self.realPath(folder)
    }
    guard let real else { return false }
    return folders.contains { base in
      guard let base = Self.realPath(base), base != "/" else { return false }
      return real == base || real.hasPrefix(base + "/")
    }
  }

  private static let temporaryFolders = ["/tmp", "/var/tmp", "/dev/shm", "/var/folders"]

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
