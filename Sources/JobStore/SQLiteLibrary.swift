import CSQLite

/// The SQLite library that this process uses.
public enum SQLiteLibrary {
  /// Its version, as `3.40.1`.
  public static var version: String { String(cString: sqlite3_libversion()) }

  /// Whether it has the WAL-reset bug: two connections that write and checkpoint at the same instant
  /// can lose a commit (sqlite.org/wal.html, "WAL-reset bug"). Distributions may have repaired it
  /// without a new number, so this says "may have".
  public static var hasWALResetBug: Bool { hasWALResetBug(version: sqlite3_libversion_number()) }

  /// The same for a version number, as 3040001 for 3.40.1. Repaired in 3.51.3, 3.50.7 and 3.44.6.
  static func hasWALResetBug(version: Int32) -> Bool {
    switch version {
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000, 3_051_003...: false
    case 3_007_000...: true
    default: false
    }
  }
}
