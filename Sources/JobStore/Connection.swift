import CSQLite
import JobModel

/// One connection to a database file. It belongs to one thread at a time, and knows nothing of jobs.
final class Connection {
  /// How long SQLite waits for another program's lock, in milliseconds.
  private static let busyTimeout: Int32 = 10_000

  let path: String
  /// Called with each statement's text before it runs: the tests end the process there.
  var willRun: ((String) -> Void)?
  /// How many pages of the write-ahead log the last commit left to be checkpointed.
  private(set) var pagesInLog = 0
  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens a file that exists.
  init(path: String) throws(StoreError) {
    self.path = path
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard let opened else {
      throw .sqlite(
        SQLiteFailure(code: code, words: "no memory", doing: "open the store", path: path))
    }
    handle = opened
    guard code == SQLITE_OK else { throw failure(code, verb: "open the store") }
    // Before anything else: also a connection that fails later must not checkpoint when it closes.
    try check(pocket_forbid_checkpoint_on_close(handle), doing: "configure it")
    sqlite3_busy_timeout(handle, Self.busyTimeout)
    // Instead of SQLite's own hook, which would checkpoint after a commit.
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        if let context {
          Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().pagesInLog = Int(pages)
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    for statement in statements.values { statement.finalize() }
    sqlite3_close_v2(handle)
  }

  /// Runs SQL that gives no rows: one or more statements without parameters.
  func execute(_ sql: String) throws(StoreError) {
    willRun?(sql)
    try check(sqlite3_exec(handle, sql, nil, nil, nil), doing: sql)
  }

  /// Runs one statement and passes its rows to `row` until that returns false.
  func query(
    _ sql: String, _ values: [SQLValue] = [],
    _ row: (borrowing Row) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try bind(values, to: statement)
    while try step(statement, sql) {
      guard try row(Row(statement: statement.pointer)) else { return }
    }
  }

  /// Runs one statement and gives what `read` makes of its first row, or nil without a row.
  func first<Result>(
    _ sql: String, _ values: [SQLValue] = [],
    _ read: (borrowing Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    var result: Result?
    try query(sql, values) { row throws(StoreError) in
      result = try read(row)
      return false
    }
    return result
  }

  /// Runs one statement that gives no rows.
  func run(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) {
    try query(sql, values) { _ in true }
  }

  /// How many rows the last INSERT, UPDATE or DELETE changed.
  var changedRows: Int { Int(sqlite3_changes(handle)) }

  /// Runs one statement that gives no rows and whose last parameter is `blob`, which is not copied.
  func run(_ sql: String, _ values: [SQLValue], blob: [UInt8]) throws(StoreError) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try bind(values, to: statement)
    try blob.withUnsafeBufferPointer { bytes throws(StoreError) in
      // An empty array may have no address, and no address would be NULL.
      let start = bytes.baseAddress.map { UnsafeRawPointer($0) }
      let code =
        bytes.isEmpty
        ? sqlite3_bind_zeroblob(statement.pointer, Int32(values.count + 1), 0)
        : pocket_bind_static_blob(
          statement.pointer, Int32(values.count + 1), start, UInt64(bytes.count))
      try check(code, doing: sql)
      _ = try step(statement, sql)
    }
  }

  /// Copies what the log holds into the database, as far as readers allow. Only under the lock.
  func checkpoint() throws(StoreError) {
    willRun?("checkpoint")
    let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    // Busy means that readers or other programs stand in the way, and a full disk that the log has to
    // keep what it holds: the next commit tries again. The one before stands in any case.
    let primary = code & 0xFF
    if primary != SQLITE_BUSY, primary != SQLITE_FULL { try check(code, doing: "checkpoint") }
    pagesInLog = 0
  }

  private func prepared(_ sql: String) throws(StoreError) -> Statement {
    if let statement = statements[sql] { return statement }
    var pointer: OpaquePointer?
    let code = sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
    guard code == SQLITE_OK, let pointer else { throw failure(code, doing: sql) }
    let statement = Statement(pointer: pointer)
    statements[sql] = statement
    return statement
  }

  private func bind(_ values: [SQLValue], to statement: Statement) throws(StoreError) {
    for (index, value) in values.enumerated() {
      try check(value.bind(to: statement.pointer, at: Int32(index + 1)), doing: "bind")
    }
  }

  private func step(_ statement: Statement, _ sql: String) throws(StoreError) -> Bool {
    willRun?(sql)
    let code = sqlite3_step(statement.pointer)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure(code, doing: sql)
    }
  }

  private func check(_ code: Int32, doing: String) throws(StoreError) {
    guard code == SQLITE_OK else { throw failure(code, doing: doing) }
  }

  private func failure(_ code: Int32, doing: String) -> StoreError {
    let words = doing.split(whereSeparator: { $0 == " " || $0 == "\n" }).prefix(3)
    return failure(code, verb: "run \(words.joined(separator: " "))")
  }

  private func failure(_ code: Int32, verb: String) -> StoreError {
    let words = String(cString: sqlite3_errmsg(handle))
    return .sqlite(SQLiteFailure(code: code, words: words, doing: verb, path: path))
  }
}

/// A prepared statement.
private struct Statement {
  let pointer: OpaquePointer

  /// Makes it ready for the next use, and lets go of what was bound to it. What the last step said
  /// is not an error of this call.
  func reset() {
    sqlite3_reset(pointer)
    sqlite3_clear_bindings(pointer)
  }

  func finalize() { sqlite3_finalize(pointer) }
}
