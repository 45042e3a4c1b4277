import JobModel

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension JobStore {
  /// Notes that the host said it started the command, at `time` (seconds since 1970).
  public func recordLaunch(
    of id: JobID, attempt: String, pid: Int, pgid: Int, at time: Int64 = JobStore.now()
  ) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      let job = try Self.number(of: id, connection)
      try connection.run(
        "UPDATE job SET attempt = ?, pid = ?, pgid = ? WHERE number = ?",
        [.text(attempt), SQLValue(pid), SQLValue(pgid), job])
      try Self.store(.running, at: time, for: job, connection)
    }
  }

  /// Notes what was seen of a job at `time` (seconds since 1970): the state that follows from it, the
  /// evidence and the exit record if there was a look, and what is left of it if that was looked for.
  /// A record of a job that wrote nothing proves its end; who follows another job proves that one's.
  /// Returns false, and keeps the state that is known, when the end is proved already or the state
  /// cannot follow on the known one.
  @discardableResult
  public func record(
    _ state: JobState, evidence: Evidence? = nil, leftovers: [HostProcess]? = nil,
    exit: ExitRecord? = nil, at time: Int64 = JobStore.now(), for id: JobID
  ) throws(StoreError) -> Bool {
    try database.write { connection throws(StoreError) in
      let job = try Self.number(of: id, connection)
      try Self.store(evidence, at: time, for: job, connection)
      // Leftovers are looked for after the end as well.
      if let leftovers {
        try connection.run(
          "UPDATE job SET leftovers = ? WHERE number = ?",
          [.text(leftovers.map(\.description).joined(separator: "\n")), job])
      }
      guard try Self.store(state, at: time, for: job, connection) else { return false }
      if let exit {
        try connection.run(
          "UPDATE job SET exit = ? WHERE number = ?", [.text(exit.description), job])
        // Of a job that wrote nothing there is nothing to fetch: its end is proved.
        if exit.outSize == .zero, exit.errSize == .zero {
          _ = try Self.prove(exit, of: job, at: time, connection)
        }
      }
      return true
    }
  }

  /// Stores the proved end of a job (invariant 4), if the committed offsets of both streams' newest
  /// generations equal the record's sizes; else it returns false and changes nothing. For an end
  /// that is proved already it returns true. `evidence` is what was seen beside the record.
  public func finish(
    _ id: JobID, _ record: ExitRecord, evidence: Evidence? = nil, at time: Int64 = JobStore.now()
  ) throws(StoreError) -> Bool {
    try database.write { connection throws(StoreError) in
      let job = try Self.number(of: id, connection)
      if try Self.isProved(job, connection) { return true }
      guard try Self.prove(record, of: job, at: time, connection) else { return false }
      try Self.store(evidence, at: time, for: job, connection)
      return true
    }
  }

  /// Stores the proved end if all that the record speaks of is committed.
  private static func prove(
    _ record: ExitRecord, of job: SQLValue, at time: Int64, _ connection: Connection
  ) throws(StoreError) -> Bool {
    for stream in JobStream.allCases {
      let position = try position(of: job, stream, connection)
      guard position.offset == record.size(of: stream) else { return false }
    }
    let state: JobState = record.cancelRequested ? .cancelled(record) : .finished(record.status)
    try connection.run(
      "UPDATE job SET state = ?, state_at = ?, exit = ?, proved = 1 WHERE number = ?",
      [.text(state.description), .integer(time), .text(record.description), job])
    return true
  }

  /// Notes how many bytes came after the exit record's sizes.
  public func setLateBytes(out: Int64, err: Int64, for id: JobID) throws(StoreError) {
    try set("late_out = ?, late_err = ?", [.integer(out), .integer(err)], of: id)
  }

  /// Stores `state` if it can follow on the known one. A command that never ran has no output, so
  /// that this is its proved end.
  @discardableResult
  private static func store(
    _ state: JobState, at time: Int64, for job: SQLValue, _ connection: Connection
  ) throws(StoreError) -> Bool {
    let text = try connection.first("SELECT state FROM job WHERE number = ?", [job]) { $0.text(0) }
    guard let known = text.flatMap({ JobState($0) }) else {
      throw .damaged(path: connection.path, what: "state \"\(text ?? "")\" cannot be read")
    }
    guard try !isProved(job, connection), known.canBecome(state) else { return false }
    try connection.run(
      "UPDATE job SET state = ?, state_at = ?, proved = ? WHERE number = ?",
      [.text(state.description), .integer(time), SQLValue(neverRan(state)), job])
    return true
  }

  /// Whether the command never ran, so that there is no output to wait for.
  static func neverRan(_ state: JobState) -> Bool {
    switch state {
    case .cancelled(nil), .neverStarted: true
    default: false
    }
  }

  private static func store(
    _ evidence: Evidence?, at time: Int64, for job: SQLValue, _ connection: Connection
  ) throws(StoreError) {
    guard let evidence else { return }
    try connection.run(
      """
      UPDATE job SET evidence = ?, evidence_at = ?, output_at = COALESCE(?, output_at)
      WHERE number = ?
      """,
      [
        .text(evidence.description), .integer(time),
        evidence.quietSeconds.map { .integer(time - $0) } ?? .null, job,
      ])
  }

  func set(_ columns: String, _ values: [SQLValue], of id: JobID) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run("UPDATE job SET \(columns) WHERE id = ?", values + [.text(id.description)])
      if connection.changedRows == 0 { throw .noSuchJob(id.description) }
    }
  }

  /// This client's clock, in seconds since 1970.
  public static func now() -> Int64 { Int64(time(nil)) }
}
