import CSQLite

/// A value that goes into a statement.
enum SQLValue {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  init(_ number: Int) { self = .integer(Int64(number)) }
  init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
  init(_ isTrue: Bool) { self = .integer(isTrue ? 1 : 0) }

  /// Binds a copy of the value; returns SQLite's result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let number): return sqlite3_bind_int64(statement, index, number)
    case .text(let text):
      var text = text
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          // Without an address it would be NULL, not the empty text.
          $0.isEmpty
            ? pocket_bind_text(statement, index, "", 0)
            : pocket_bind_text(statement, index, $0.baseAddress, UInt64($0.count))
        }
      }
    case .blob(let bytes):
      return bytes.withUnsafeBytes {
        $0.isEmpty
          ? sqlite3_bind_zeroblob(statement, index, 0)
          : pocket_bind_blob(statement, index, $0.baseAddress, UInt64($0.count))
      }
    }
  }
}

/// The row that a statement stands on. It must not outlive the next step.
struct Row: ~Copyable {
  let statement: OpaquePointer

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  func optionalInteger(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  func text(_ column: Int32) -> String { optionalText(column) ?? "" }

  func optionalText(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(statement, column) else { return nil }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  func blob(_ column: Int32) -> [UInt8] { withBlob(column) { Array($0) } }

  /// The bytes themselves, without a copy; for the time of the call only.
  func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // First the address, then the count (sqlite.org/c3ref/column_blob.html).
    let start = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  private func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement, column) == SQLITE_NULL
  }
}
