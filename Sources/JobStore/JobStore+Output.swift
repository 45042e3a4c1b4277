import JobModel

/// A row of output.
public struct Chunk: Sendable, Hashable {
  /// Orders the rows of both of a job's streams as they were committed. It only grows.
  public let sequence: Int64
  /// Whose output it is.
  public let stream: JobStream
  /// Of which generation of the stream.
  public let generation: Int
  /// Where the bytes begin in the generation's file.
  public let offset: ByteOffset
  /// The bytes, never none.
  public let bytes: [UInt8]
  /// What the bytes are.
  public let kind: LineAssembler.Run.Kind
}

/// A generation of a stream as the store knows it.
public struct Generation: Sendable, Hashable {
  /// Its number and committed offset, and the file's inode.
  public let position: StreamPosition
  /// Why it ended; nil for the newest one.
  public let ended: GapReason?
  /// Where the gap was; nil for the newest one.
  public let endedAt: ByteOffset?
}

extension JobStore {
  /// The rows after `sequence` (0: from the start), in commit order over both streams, until
  /// `limitBytes` are reached: at least one row if there is one, so at most 8 MiB more.
  public func chunks(
    of id: JobID, after sequence: Int64, limitBytes: Int = 1024 * 1024
  ) throws(StoreError) -> [Chunk] {
    let connection = database.connection
    var chunks: [Chunk] = []
    var bytes = 0
    try connection.query(
      """
      SELECT sequence, stream, generation, start, kind, bytes FROM chunk
      WHERE job = ? AND sequence > ? ORDER BY sequence
      """, [try Self.number(of: id, connection), .integer(sequence)]
    ) { row throws(StoreError) in
      guard let stream = JobStream(rawValue: row.text(1)),
        let kind = LineAssembler.Run.Kind(rawValue: row.text(4))
      else {
        throw .damaged(path: connection.path, what: "chunk \(row.integer(0)) cannot be read")
      }
      let chunk = Chunk(
        sequence: row.integer(0), stream: stream, generation: Int(row.integer(2)),
        offset: ByteOffset(row.integer(3)), bytes: row.blob(5), kind: kind)
      chunks.append(chunk)
      bytes += chunk.bytes.count
      return bytes < limitBytes
    }
    return chunks
  }

  /// The stored bytes before `position`, at most `bytes` of them: what a fingerprint is taken of.
  /// The position is given, not looked up, since another process may commit in between: the
  /// fingerprint of a later offset would look like a file that was rewritten.
  public func tail(
    of id: JobID, _ stream: JobStream, before position: StreamPosition,
    bytes limit: Int = LineAssembler.fingerprintLength
  ) throws(StoreError) -> [UInt8] {
    var tail: [UInt8] = []
    try database.connection.query(
      """
      SELECT start, bytes FROM chunk WHERE job = ? AND stream = ? AND generation = ? AND start < ?
      ORDER BY start DESC
      """,
      [
        try Self.number(of: id, database.connection), .text(stream.rawValue),
        SQLValue(position.generation), .integer(position.offset.rawValue),
      ]
    ) { row throws(StoreError) in
      let length = position.offset - ByteOffset(row.integer(0)) - tail.count
      let part = row.withBlob(1) { Array($0.prefix(length).suffix(limit - tail.count)) }
      tail = part + tail
      return tail.count < limit
    }
    return tail
  }

  /// Count and SHA-256 (64 hexadecimal digits) of what is stored of a generation, read row by row.
  /// - Throws: `damaged` when the rows do not join without gap or overlap.
  public func prefixDigest(
    of id: JobID, _ stream: JobStream, generation: Int
  ) throws(StoreError) -> (bytes: ByteOffset, sha256: String) {
    let connection = database.connection
    var end = ByteOffset.zero
    var hasher = SHA256Hasher()
    try connection.query(
      """
      SELECT start, bytes FROM chunk WHERE job = ? AND stream = ? AND generation = ? ORDER BY start
      """,
      [try Self.number(of: id, connection), .text(stream.rawValue), SQLValue(generation)]
    ) { row throws(StoreError) in
      guard row.integer(0) == end.rawValue else {
        let what = "\(stream.rawValue) of job \(id) has a row at \(row.integer(0)), not at \(end)"
        throw .damaged(path: connection.path, what: what)
      }
      row.withBlob(1) { bytes in
        hasher.update(bytes)
        end = end + bytes.count
      }
      return true
    }
    return (end, hasher.finalize())
  }

  /// A stream's generations, the oldest first.
  public func generations(of id: JobID, _ stream: JobStream) throws(StoreError) -> [Generation] {
    let connection = database.connection
    var generations: [Generation] = []
    try connection.query(
      """
      SELECT generation, committed, inode, ended, ended_at FROM generation
      WHERE job = ? AND stream = ? ORDER BY generation
      """, [try Self.number(of: id, connection), .text(stream.rawValue)]
    ) { row throws(StoreError) in
      let position = StreamPosition(
        generation: Int(row.integer(0)), offset: ByteOffset(row.integer(1)),
        inode: row.optionalText(2))
      generations.append(
        Generation(
          position: position, ended: row.optionalText(3).flatMap { GapReason(rawValue: $0) },
          endedAt: row.optionalInteger(4).map { ByteOffset($0) }))
      return true
    }
    return generations
  }
}
