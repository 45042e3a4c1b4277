import JobModel

/// A job as the store knows it.
public struct Job: Sendable, Hashable {
  /// The job's id.
  public var id: JobID
  /// Where it runs, as the user names the host.
  public var host: String
  /// What is to be run, with the prompt; a job that was adopted from its host may lack the prompt.
  public var request: JobRequest
  /// One line to know the job by; it may hold control characters.
  public var title: String
  /// When it was made, in seconds since 1970 by the clock of the client that made it.
  public var createdAt: Int64
  /// The request's digest.
  public var digest: String
  /// What is known of it.
  public var state: JobState
  /// When that was last seen, in seconds since 1970 by this client's clock.
  public var stateAt: Int64
  /// Whether its end is proved and all its output is in the store.
  public var proved = false
  /// Living processes that were seen after its end.
  public var leftovers: [HostProcess] = []
  /// What the last look at its host found.
  public var evidence: Evidence?
  /// When that look was, in seconds since 1970 by this client's clock.
  public var evidenceAt: Int64?
  /// When its output last grew, as far as was seen, in seconds since 1970 by this client's clock.
  public var outputAt: Int64?
  /// The nonce of the attempt that started it.
  public var attempt: String?
  /// The leader's process id on the host.
  public var pid: Int?
  /// The process group on the host.
  public var pgid: Int?
  /// The host's record of its end, once it was seen.
  public var exit: ExitRecord?
  /// Bytes of stdout beyond the exit record's size.
  public var lateOut: Int64 = 0
  /// Bytes of stderr beyond the exit record's size.
  public var lateErr: Int64 = 0
  /// How many of the former were taken in.
  public var lateOutTaken: Int64 = 0
  /// How many of the latter were taken in.
  public var lateErrTaken: Int64 = 0
  /// The agent's own conversation id.
  public var agentSession: String?
  /// What the agent itself said of the run.
  public var outcome: String?

  /// The name that the user gave it, if any.
  public var name: String? { request.name }

  /// A job that is about to be launched; `createdAt` is in seconds since 1970.
  public init(id: JobID, host: String, request: JobRequest, createdAt: Int64) {
    self.id = id
    self.host = host
    self.request = request
    self.createdAt = createdAt
    title = request.title
    digest = request.digest
    state = .launching
    stateAt = createdAt
  }
}

extension Job {
  static let columns = """
    id, host, title, created_at, digest, request, prompt, state, state_at, proved, leftovers, attempt,
    pid, pgid, exit, late_out, late_err, agent_session, outcome,
    evidence, evidence_at, output_at,
    (SELECT COALESCE(sum(length(bytes)), 0) FROM late WHERE late.job = job.number AND stream = 'out'),
    (SELECT COALESCE(sum(length(bytes)), 0) FROM late WHERE late.job = job.number AND stream = 'err')
    """

  /// Reads a row of `columns`.
  init(_ row: borrowing Row, path: String) throws(StoreError) {
    let text = row.text(0)
    guard let id = JobID(text), var request = JobRequest(requestFile: row.blob(5)),
      let state = JobState(row.text(7))
    else { throw .damaged(path: path, what: "job \(text) cannot be read") }
    request.prompt = row.blob(6)
    self.id = id
    self.request = request
    host = row.text(1)
    title = row.text(2)
    createdAt = row.integer(3)
    digest = row.text(4)
    self.state = state
    stateAt = row.integer(8)
    proved = row.integer(9) != 0
    leftovers = row.text(10).utf8.split(separator: 0x0A).compactMap {
      HostProcess(String(Substring($0)))
    }
    attempt = row.optionalText(11)
    pid = row.optionalInteger(12).map { Int($0) }
    pgid = row.optionalInteger(13).map { Int($0) }
    exit = row.optionalText(14).flatMap { ExitRecord($0) }
    lateOut = row.integer(15)
    lateErr = row.integer(16)
    agentSession = row.optionalText(17)
    outcome = row.optionalText(18)
    // What another version has written there and this one cannot read is as good as never seen.
    evidence = row.optionalText(19).flatMap { Evidence($0) }
    evidenceAt = row.optionalInteger(20)
    outputAt = row.optionalInteger(21)
    lateOutTaken = row.integer(22)
    lateErrTaken = row.integer(23)
  }
}
