/// The store's file: the connection, the lock that orders writers, and the schema.
final class Database {
  /// How many pages of 8 KiB the write-ahead log may hold before it is checkpointed. With more, a
  /// process that opens the store after a crash has more to read; with fewer, bulk output is slower.
  var logLimit = 1024
  let connection: Connection
  private let lock: StoreLock

  /// Opens the store at `location`, makes what is missing, and brings an older one up to date.
  init(
    at location: StoreLocation, onWait: @escaping @Sendable () -> Void = {}
  ) throws(StoreError) {
    try location.refuseInTests()
    try location.prepare()
    lock = try StoreLock(path: location.lockPath, onWait: onWait)
    connection = try Connection(path: location.path)
    try connection.execute("PRAGMA foreign_keys = ON")
    // A look at an up-to-date store waits for no writer.
    if try !Self.isUpToDate(connection) {
      let (lock, connection) = (lock, connection)
      try lock.withLock { () throws(StoreError) in try Self.prepare(connection) }
    }
    // Some builds zero what is deleted, which makes forgetting a large job slow. A log that grew
    // while a reader was in the way shrinks again.
    try connection.execute(
      """
      PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST;
      PRAGMA journal_size_limit = 16777216
      """)
  }

  /// Runs `body` as one write transaction, alone among all processes. What it throws undoes it.
  func write<Result>(
    _ body: (Connection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let connection = connection
    return try lock.withLock { () throws(StoreError) in
      let result = try Self.transaction(on: connection, body)
      if connection.pagesInLog >= logLimit { try connection.checkpoint() }
      return result
    }
  }

  private static func transaction<Result>(
    on connection: Connection, _ body: (Connection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try connection.run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      let result = try body(connection)
      try connection.run("COMMIT")
      return result
    } catch {
      // SQLite may have rolled back itself (sqlite.org/lang_transaction.html); the first error is
      // the one that counts.
      do throws(StoreError) { try connection.run("ROLLBACK") } catch {}
      throw error
    }
  }

  private static func isUpToDate(_ connection: Connection) throws(StoreError) -> Bool {
    let application = try pragma("application_id", connection)
    let version = try pragma("user_version", connection)
    return application == Schema.applicationID && version == Int64(Schema.migrations.count)
  }

  /// Only under the lock: others may be about to do the same.
  private static func prepare(_ connection: Connection) throws(StoreError) {
    let known = Schema.migrations.count
    let version = try pragma("user_version", connection)
    let application = try pragma("application_id", connection)
    let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.integer(0) } ?? 0
    guard application == Schema.applicationID || (tables == 0 && version == 0) else {
      throw .notAStore(path: connection.path)
    }
    guard version <= known else {
      throw .newerVersion(path: connection.path, found: Int(version), known: known)
    }
    if tables == 0 {
      // Rows are large: with pages of 8 KiB they go in at 1.5 times the speed of the default.
      try connection.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL")
    }
    for number in Int(version)..<known {
      try transaction(on: connection) { connection throws(StoreError) in
        try connection.execute(Schema.migrations[number])
        try connection.execute("PRAGMA user_version = \(number + 1)")
        try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
      }
    }
  }

  private static func pragma(_ name: String, _ connection: Connection) throws(StoreError) -> Int64 {
    try connection.first("PRAGMA \(name)") { $0.integer(0) } ?? 0
  }
}
