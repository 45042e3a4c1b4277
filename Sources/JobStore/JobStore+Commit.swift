import JobModel

/// What became of a commit.
public enum CommitResult: Sendable, Hashable {
  /// The bytes are in the store; this much of the generation is committed now.
  case committed(through: ByteOffset)
  /// Another reader was first; the stream stands here now. Nothing was stored.
  case conflict(StreamPosition)
}

// The one transaction (invariant 2): bytes and offset together, if the offset is as expected.
extension JobStore {
  /// Where the newest generation of a stream stands.
  public func position(of id: JobID, _ stream: JobStream) throws(StoreError) -> StreamPosition {
    let connection = database.connection
    let job = try Self.number(of: id, connection)
    return try Self.position(of: job, stream, connection)
  }

  /// Stores runs that follow on each other and begin at `expected`, if the newest generation is
  /// `generation` and its committed offset is `expected`.
  /// - Throws: `notContiguous`, `ended`.
  public func commit(
    _ runs: [LineAssembler.Run], to id: JobID, _ stream: JobStream, generation: Int,
    at expected: ByteOffset
  ) throws(StoreError) -> CommitResult {
    var end = expected
    for run in runs {
      guard run.offset == end else {
        throw .notContiguous(id, stream, expected: end, found: run.offset)
      }
      end = run.end
    }
    return try database.write { connection throws(StoreError) in
      let job = try Self.number(of: id, connection)
      let position = try Self.position(of: job, stream, connection)
      guard position.generation == generation, position.offset == expected else {
        return .conflict(position)
      }
      if end == expected { return .committed(through: end) }
      if try Self.isProved(job, connection) { throw .ended(id) }
      let key = [job, .text(stream.rawValue), SQLValue(generation)]
      for run in runs {
        try connection.run(
          """
          INSERT INTO chunk (job, stream, generation, start, kind, bytes) VALUES (?, ?, ?, ?, ?, ?)
          """, key + [.integer(run.offset.rawValue), .text(run.kind.rawValue)], blob: run.bytes)
      }
      try connection.run(
        """
        UPDATE generation SET committed = ?4 WHERE job = ?1 AND stream = ?2 AND generation = ?3
        """, key + [.integer(end.rawValue)])
      return .committed(through: end)
    }
  }

  /// Remembers the inode that a generation's file had when it was first read. A later one changes
  /// nothing.
  public func identify(
    inode: String, of id: JobID, _ stream: JobStream, generation: Int
  ) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run(
        """
        UPDATE generation SET inode = ? WHERE job = ? AND stream = ? AND generation = ?
          AND inode IS NULL
        """,
        [
          .text(inode), try Self.number(of: id, connection), .text(stream.rawValue),
          SQLValue(generation),
        ])
    }
  }

  /// Ends a generation because of a gap at `offset`, and begins the next at 0. Returns false, and
  /// changes nothing, when `generation` is not the newest any more: another reader was first.
  /// - Throws: `ended`.
  public func endGeneration(
    of id: JobID, _ stream: JobStream, generation: Int, reason: GapReason, at offset: ByteOffset,
    newInode: String? = nil
  ) throws(StoreError) -> Bool {
    try database.write { connection throws(StoreError) in
      let job = try Self.number(of: id, connection)
      guard try Self.position(of: job, stream, connection).generation == generation else {
        return false
      }
      if try Self.isProved(job, connection) { throw .ended(id) }
      let key = [job, .text(stream.rawValue)]
      try connection.run(
        """
        UPDATE generation SET ended = ?4, ended_at = ?5
        WHERE job = ?1 AND stream = ?2 AND generation = ?3
        """,
        key + [SQLValue(generation), .text(reason.rawValue), .integer(offset.rawValue)])
      try connection.run(
        "INSERT INTO generation (job, stream, generation, inode) VALUES (?, ?, ?, ?)",
        key + [SQLValue(generation + 1), SQLValue(newInode)])
      return true
    }
  }

  static func position(
    of job: SQLValue, _ stream: JobStream, _ connection: Connection
  ) throws(StoreError) -> StreamPosition {
    let position = try connection.first(
      """
      SELECT generation, committed, inode FROM generation WHERE job = ? AND stream = ?
      ORDER BY generation DESC LIMIT 1
      """, [job, .text(stream.rawValue)]
    ) {
      StreamPosition(
        generation: Int($0.integer(0)), offset: ByteOffset($0.integer(1)),
        inode: $0.optionalText(2))
    }
    guard let position else {
      throw .damaged(path: connection.path, what: "a job has no \(stream.rawValue) stream")
    }
    return position
  }

  static func isProved(_ job: SQLValue, _ connection: Connection) throws(StoreError) -> Bool {
    try connection.first("SELECT proved FROM job WHERE number = ?", [job]) { $0.integer(0) } == 1
  }
}
