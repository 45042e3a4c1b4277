import JobModel

/// Output that came after a job's end, as it was taken in: rows of their own kind, outside the
/// committed offset.
public struct LateBytes: Sendable, Hashable {
  /// Whose bytes these are.
  public let stream: JobStream
  /// Where they begin in the host's file.
  public let offset: ByteOffset
  /// The bytes, never none.
  public let bytes: [UInt8]
}

extension JobStore {
  /// The longest row of late output, in bytes.
  private static let rowLimit = 256 * 1024

  /// Up to where a stream's late output was taken in; nil for a job whose end is not proved.
  public func latePosition(
    of id: JobID, _ stream: JobStream
  ) throws(StoreError) -> ByteOffset? {
    let connection = database.connection
    return try Self.latePosition(of: try Self.number(of: id, connection), stream, connection)
  }

  /// Stores late output that begins at `expected`, if that is where the stream's late output stands;
  /// else, and for a job whose end is not proved, it returns false and stores nothing.
  public func commitLate(
    _ bytes: [UInt8], to id: JobID, _ stream: JobStream, at expected: ByteOffset
  ) throws(StoreError) -> Bool {
    try database.write { connection throws(StoreError) in
      let job = try Self.number(of: id, connection)
      guard try Self.latePosition(of: job, stream, connection) == expected else { return false }
      var start = 0
      while start < bytes.count {
        let row = Array(bytes[start..<min(start + Self.rowLimit, bytes.count)])
        try connection.run(
          "INSERT INTO late (job, stream, start, bytes) VALUES (?, ?, ?, ?)",
          [job, .text(stream.rawValue), .integer((expected + start).rawValue)], blob: row)
        start += row.count
      }
      return true
    }
  }

  /// A stream's late output from `offset` on, in order, until `limitBytes` are reached: at least one
  /// row if there is one.
  public func lateBytes(
    of id: JobID, _ stream: JobStream, from offset: ByteOffset, limitBytes: Int = 1024 * 1024
  ) throws(StoreError) -> [LateBytes] {
    var rows: [LateBytes] = []
    var count = 0
    try database.connection.query(
      "SELECT start, bytes FROM late WHERE job = ? AND stream = ? AND start >= ? ORDER BY start",
      [
        try Self.number(of: id, database.connection), .text(stream.rawValue),
        .integer(offset.rawValue),
      ]
    ) { row throws(StoreError) in
      let late = LateBytes(
        stream: stream, offset: ByteOffset(row.integer(0)), bytes: row.blob(1))
      rows.append(late)
      count += late.bytes.count
      return count < limitBytes
    }
    return rows
  }

  /// The ≤ 512 bytes before `offset`, late output and what is committed before it: what a fingerprint
  /// is taken of.
  public func lateTail(
    of id: JobID, _ stream: JobStream, before offset: ByteOffset
  ) throws(StoreError) -> [UInt8] {
    let limit = LineAssembler.fingerprintLength
    var tail: [UInt8] = []
    try database.connection.query(
      "SELECT start, bytes FROM late WHERE job = ? AND stream = ? AND start < ? ORDER BY start DESC",
      [
        try Self.number(of: id, database.connection), .text(stream.rawValue),
        .integer(offset.rawValue),
      ]
    ) { row throws(StoreError) in
      let length = offset - ByteOffset(row.integer(0)) - tail.count
      tail = row.withBlob(1) { Array($0.prefix(length).suffix(limit - tail.count)) } + tail
      return tail.count < limit
    }
    guard tail.count < limit else { return tail }
    return try self.tail(
      of: id, stream, before: try position(of: id, stream), bytes: limit - tail.count) + tail
  }

  private static func latePosition(
    of job: SQLValue, _ stream: JobStream, _ connection: Connection
  ) throws(StoreError) -> ByteOffset? {
    guard try isProved(job, connection) else { return nil }
    let exit = try connection.first("SELECT exit FROM job WHERE number = ?", [job]) {
      $0.optionalText(0).flatMap { ExitRecord($0) }
    }
    // A command that never ran is proved without a record.
    guard let record = exit ?? nil else { return nil }
    let last = try connection.first(
      """
      SELECT start + length(bytes) FROM late WHERE job = ? AND stream = ?
      ORDER BY start DESC LIMIT 1
      """, [job, .text(stream.rawValue)]
    ) { ByteOffset($0.integer(0)) }
    return last ?? record.size(of: stream)
  }
}
