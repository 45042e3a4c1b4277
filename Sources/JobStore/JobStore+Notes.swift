import JobModel

extension JobStore {
  /// Up to where a stream was shown on a terminal; nil when nothing of it was.
  public func shownMark(
    of id: JobID, _ stream: JobStream
  ) throws(StoreError) -> StreamPosition? {
    let connection = database.connection
    return try connection.first(
      "SELECT generation, start FROM shown WHERE job = ? AND stream = ?",
      [try Self.number(of: id, connection), .text(stream.rawValue)]
    ) { StreamPosition(generation: Int($0.integer(0)), offset: ByteOffset($0.integer(1))) }
  }

  /// Moves the mark forward. A mark that is further on already stays.
  public func setShownMark(
    _ position: StreamPosition, of id: JobID, _ stream: JobStream
  ) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run(
        """
        INSERT INTO shown (job, stream, generation, start) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET generation = excluded.generation, start = excluded.start
        WHERE (excluded.generation, excluded.start) > (generation, start)
        """,
        [
          try Self.number(of: id, connection), .text(stream.rawValue),
          SQLValue(position.generation), .integer(position.offset.rawValue),
        ])
    }
  }

  /// Stores the agent's own conversation id.
  public func setAgentSession(_ session: String, of id: JobID) throws(StoreError) {
    try set("agent_session = ?", [.text(session)], of: id)
  }

  /// Stores what the agent itself said of the run.
  public func setOutcome(_ outcome: String, of id: JobID) throws(StoreError) {
    try set("outcome = ?", [.text(outcome)], of: id)
  }

  /// When the user last looked at the list of jobs, in seconds since 1970; nil before the first time.
  public func lastLooked() throws(StoreError) -> Int64? {
    try database.connection.first("SELECT at FROM looked") { $0.integer(0) }
  }

  /// Notes that the user looked at the list of jobs at `time` (seconds since 1970).
  public func markLooked(at time: Int64 = JobStore.now()) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run("INSERT OR REPLACE INTO looked (only, at) VALUES (1, ?)", [.integer(time)])
    }
  }
}
