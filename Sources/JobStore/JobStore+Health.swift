#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How a store fares.
public struct StoreHealth: Sendable, Hashable {
  /// Where it lies.
  public var path: String
  /// The size of the database with its write-ahead log, in bytes.
  public var bytes: Int64
  /// How many jobs it knows.
  public var jobs: Int
  /// What SQLite finds wrong with the file, in its own words, at most 20.
  public var faults: [String]
  /// How much can still be written to its disk, in bytes; nil is unknown.
  public var freeBytes: Int64?

  /// A health of these values.
  public init(path: String, bytes: Int64, jobs: Int, faults: [String], freeBytes: Int64?) {
    (self.path, self.bytes, self.jobs) = (path, bytes, jobs)
    (self.faults, self.freeBytes) = (faults, freeBytes)
  }
}

extension JobStore {
  /// Looks at the whole file once (PRAGMA quick_check), which for a large store takes a while.
  public func health() throws(StoreError) -> StoreHealth {
    let connection = database.connection
    var faults: [String] = []
    try connection.query("PRAGMA quick_check(20)") { row in
      let words = row.text(0)
      if words != "ok" { faults.append(words) }
      return true
    }
    let jobs = try connection.first("SELECT count(*) FROM job") { $0.integer(0) } ?? 0
    let path = connection.path
    return StoreHealth(
      path: path, bytes: Self.size(of: path) + Self.size(of: path + "-wal"), jobs: Int(jobs),
      faults: faults, freeBytes: Self.freeBytes(at: path))
  }

  private static func size(of path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  private static func freeBytes(at path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    let (bytes, overflow) = UInt64(status.f_frsize).multipliedReportingOverflow(
      by: UInt64(status.f_bavail))
    return overflow ? nil : Int64(clamping: bytes)
  }
}
