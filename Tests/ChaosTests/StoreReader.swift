import CSQLite
import JobModel
import JobStore

/// The store's file, read without any of the code that writes it. It also makes the store itself
/// write down every change of a job's state, whoever makes it.
///
/// It belongs to one task at a time.
final class StoreReader {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Row {
    let id: JobID
    let title: String
    let state: JobState
    let proved: Bool
  }

  struct Edge {
    let sequence: Int64
    let id: String
    let from: String
    let to: String
  }

  private let handle: OpaquePointer

  /// Makes the store at `path`, and has it watched.
  static func make(_ path: String) async throws -> StoreReader {
    // It makes the file and its tables, and is closed again.
    do { _ = try await JobStore(at: StoreLocation(path: path)).jobs() }
    let reader = try StoreReader(path)
    try reader.rows(
      "CREATE TABLE edge (sequence INTEGER PRIMARY KEY, id TEXT, before TEXT, after TEXT)"
    ) { _ in }
    try reader.rows(
      """
      CREATE TRIGGER watch AFTER UPDATE OF state ON job WHEN OLD.state <> NEW.state BEGIN
        INSERT INTO edge (id, before, after) VALUES (NEW.id, OLD.state, NEW.state);
      END
      """
    ) { _ in }
    return reader
  }

  private init(_ path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
      throw Failure(description: "\(path) cannot be opened")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 10_000)
    // Checkpoints are the business of Pocket's own processes.
    sqlite3_wal_autocheckpoint(handle, 0)
    _ = pocket_forbid_checkpoint_on_close(handle)
  }

  deinit { sqlite3_close_v2(handle) }

  func jobs() throws -> [Row] {
    var jobs: [Row] = []
    try rows("SELECT id, title, state, proved FROM job") { row in
      guard let id = JobID(row.text(0)), let state = JobState(row.text(2)) else {
        throw Failure(description: "the row \(row.text(0)) \(row.text(2)) cannot be read")
      }
      jobs.append(Row(id: id, title: row.text(1), state: state, proved: row.integer(3) != 0))
    }
    return jobs
  }

  func edges(after sequence: Int64) throws -> [Edge] {
    var edges: [Edge] = []
    try rows("SELECT sequence, id, before, after FROM edge WHERE sequence > \(sequence)") { row in
      edges.append(
        Edge(sequence: row.integer(0), id: row.text(1), from: row.text(2), to: row.text(3)))
    }
    return edges
  }

  /// The rows of a stream's output from this offset on; there is one generation only, since no file
  /// was ever cut.
  func output(of id: JobID, _ stream: JobStream, from offset: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try rows(
      """
      SELECT start, bytes, generation FROM chunk
      WHERE job = (SELECT number FROM job WHERE id = '\(id)') AND stream = '\(stream.rawValue)'
        AND (start >= \(offset) OR generation > 0) ORDER BY generation, start
      """
    ) { row in
      guard row.integer(2) == 0, row.integer(0) == Int64(offset + bytes.count) else {
        throw Failure(
          description: "\(stream) has a row at \(row.integer(0)) of generation \(row.integer(2)), "
            + "and \(offset + bytes.count) bytes before it")
      }
      bytes += row.bytes(1)
    }
    return bytes
  }

  func committed(of id: JobID, _ stream: JobStream) throws -> Int {
    var committed = 0
    try rows(
      """
      SELECT committed FROM generation WHERE job = (SELECT number FROM job WHERE id = '\(id)')
        AND stream = '\(stream.rawValue)' ORDER BY generation DESC LIMIT 1
      """
    ) { committed = Int($0.integer(0)) }
    return committed
  }

  /// The ids of the jobs that have a wish which nobody has carried out.
  func intents() throws -> [String] {
    var ids: [String] = []
    try rows("SELECT id FROM intent JOIN job ON job.number = intent.job") { ids.append($0.text(0)) }
    return ids
  }

  func integrity() throws -> String {
    var words: [String] = []
    try rows("PRAGMA integrity_check") { words.append($0.text(0)) }
    return words.joined(separator: "; ")
  }

  private struct Columns {
    let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    func bytes(_ column: Int32) -> [UInt8] {
      guard let start = sqlite3_column_blob(statement, column) else { return [] }
      return Array(
        UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
  }

  private func rows(_ sql: String, _ body: (Columns) throws -> Void) throws {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
      throw Failure(description: "\(String(cString: sqlite3_errmsg(handle))), in: \(sql)")
    }
    defer { sqlite3_finalize(prepared) }
    while true {
      switch sqlite3_step(prepared) {
      case SQLITE_ROW: try body(Columns(statement: prepared))
      case SQLITE_DONE: return
      default:
        throw Failure(description: "\(String(cString: sqlite3_errmsg(handle))), in: \(sql)")
      }
    }
  }
}
