import JobModel

/// The client's store: jobs, their output and how they ended, in one SQLite file that several
/// processes may use at once. Everything runs on a thread of the store's own; a write waits for
/// other processes' writes up to 10 s.
public actor JobStore {
  let database: Database
  private nonisolated let thread: StoreThread
  nonisolated let location: StoreLocation

  /// The thread that all the store's work runs on.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// Opens the store at `location`. It makes what is missing (folder 0700, file 0600), brings an
  /// older format up to date and refuses a newer one untouched.
  ///
  /// - Parameter onWait: called on the store's thread when a write has waited 2 s for other
  ///   processes, and goes on waiting; it must return at once.
  public init(
    at location: StoreLocation, onWait: @escaping @Sendable () -> Void = {}
  ) async throws(StoreError) {
    self.location = location
    thread = StoreThread()
    database = try await thread.run { () throws(StoreError) in
      try Database(at: location, onWait: onWait)
    }
  }

  /// Yields at once, and then whenever the store has changed, whichever process changed it. Changes
  /// in quick succession are told once. It ends with the error that stops the watching.
  public nonisolated func changes() -> AsyncThrowingStream<Void, any Error> {
    StoreWatch.changes(at: location)
  }

  /// Stores a job that is about to be launched, in the state `launching`, or one that was found on its
  /// host, as it is.
  /// - Throws: `idTaken`, `nameTaken`, `invalidRequest`.
  public func insert(_ job: Job) throws(StoreError) {
    do throws(RequestError) { try job.request.validate() } catch { throw .invalidRequest(error) }
    var file = RequestFile(job.request, created: job.createdAt)
    // An adopted job's digest covers a prompt that may not be here.
    file.digest = job.digest
    let request = file.bytes
    try database.write { connection throws(StoreError) in
      let id = SQLValue.text(job.id.description)
      let isTaken = try connection.first("SELECT 1 FROM job WHERE id = ?", [id]) { _ in true }
      if isTaken == true { throw .idTaken(job.id) }
      if let name = job.name, let other = try Self.id(named: name, connection) {
        throw .nameTaken(name, by: other)
      }
      try connection.run(
        """
        INSERT INTO job (id, host, name, title, created_at, digest, request, prompt, state, state_at,
          agent_session, attempt, pid, pgid, exit, proved)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          id, .text(job.host), SQLValue(job.name), .text(job.title),
          .integer(job.createdAt), .text(job.digest), .blob(request), .blob(job.request.prompt),
          .text(job.state.description), .integer(job.stateAt), SQLValue(job.agentSession),
          SQLValue(job.attempt), SQLValue(job.pid), SQLValue(job.pgid),
          SQLValue(job.exit?.description), SQLValue(Self.neverRan(job.state)),
        ])
      for stream in JobStream.allCases {
        try connection.run(
          """
          INSERT INTO generation (job, stream, generation)
          VALUES ((SELECT number FROM job WHERE id = ?), ?, 0)
          """, [id, .text(stream.rawValue)])
      }
    }
  }

  /// The job with this id, or nil.
  public func job(_ id: JobID) throws(StoreError) -> Job? {
    try select("WHERE id = ?", [.text(id.description)]).first
  }

  /// All jobs, or those of one host, the newest first.
  public func jobs(host: String? = nil) throws(StoreError) -> [Job] {
    guard let host else { return try select("ORDER BY number DESC", []) }
    return try select("WHERE host = ? ORDER BY number DESC", [.text(host)])
  }

  /// Forgets a job and all its output. A job that is not there is no error.
  public func remove(_ id: JobID) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run("DELETE FROM job WHERE id = ?", [.text(id.description)])
    }
  }

  func select(_ rest: String, _ values: [SQLValue]) throws(StoreError) -> [Job] {
    let path = database.connection.path
    var jobs: [Job] = []
    try database.connection.query("SELECT \(Job.columns) FROM job \(rest)", values) {
      row throws(StoreError) in
      jobs.append(try Job(row, path: path))
      return true
    }
    return jobs
  }

  static func id(named name: String, _ connection: Connection) throws(StoreError) -> JobID? {
    let text = try connection.first("SELECT id FROM job WHERE name = ?", [.text(name)]) {
      $0.text(0)
    }
    return text.flatMap { JobID($0) }
  }

  /// The number by which the other tables know a job.
  static func number(of id: JobID, _ connection: Connection) throws(StoreError) -> SQLValue {
    let number = try connection.first(
      "SELECT number FROM job WHERE id = ?", [.text(id.description)]
    ) { $0.integer(0) }
    guard let number else { throw .noSuchJob(id.description) }
    return .integer(number)
  }
}
