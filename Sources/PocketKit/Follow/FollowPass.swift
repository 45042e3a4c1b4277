import Agents
import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// One channel of a follow: from the committed offsets to the job's end, or to the loss of the
/// channel, whichever comes first.
struct FollowPass {
  enum Outcome: Sendable {
    /// Nothing more will come.
    case ended(JobState)
    /// The host has no start of this job.
    case notStarted
    /// The channel is of no more use; another pass goes on from the committed offset.
    case again
    /// Leader and supervisor are gone and have left no record; the whole output was read.
    case lifeless
  }

  private let client: JobClient
  private let job: Job
  private let emit: @Sendable (JobEvent) -> Void
  private var out: StreamIntake
  private var err: StreamIntake
  private var state: JobState
  private var recordedAt: Int64 = 0
  /// The look with which the pass began, kept up to date by its beats.
  private var evidence: Evidence?
  private var outputAt: Int64?
  private var sizes: [JobStream: ByteOffset] = [:]
  private var beatsWithoutLife = 0
  private var wasCut = false
  /// Whether the host has answered as it should.
  private(set) var wasAnswered = false
  /// Whether bytes were committed.
  private(set) var progressed = false
  private var reader: AgentReader?

  init(client: JobClient, job: Job, emit: @escaping @Sendable (JobEvent) -> Void) async throws {
    self.client = client
    self.job = job
    self.emit = emit
    state = job.state
    out = try await StreamIntake(of: .out, job: job.id, store: client.store)
    err = try await StreamIntake(of: .err, job: job.id, store: client.store)
    reader = job.request.agent.flatMap(AgentCatalog.agent(named:)).map { AgentReader(agent: $0) }
  }

  mutating func run() async throws -> Outcome {
    let link = try await client.hosts.link(to: job.host)
    let arguments = [("id", job.id.description), ("late", "no")] + out.arguments + err.arguments
    var exchange = try await link.open(RemoteScript(.follow, arguments))
    let process = exchange.process
    return try await link.finishing(process) {
      let signs = process.signsOfLife()
      defer { signs.cancel() }
      var outcome = Outcome.again
      while let reply = try await exchange.next() {
        if let end = try await take(reply) {
          outcome = end
          break
        }
      }
      return outcome
    }
  }

  /// Acts on one reply; an outcome ends the pass.
  private mutating func take(_ reply: Reply) async throws -> Outcome? {
    switch reply {
    case .evidence(let evidence):
      self.evidence = evidence
      // The last look is told just before the exit record, which decides.
      if wasAnswered { return nil }
      wasAnswered = true
      outputAt = evidence.quietSeconds.map { JobStore.now() - $0 }
      emit(.connected)
      return try await take(evidence)
    case .refused(let reason, let words):
      return .ended(try await change(to: .neverStarted(.refused(reason, words: words))))
    case .stream(let stream, let generation, _, let inode):
      guard let inode, self[stream].generation == generation else { return nil }
      try await client.store.identify(
        inode: inode, of: job.id, stream, generation: generation)
    case .frame(let frame):
      return try await take(frame)
    case .gap(let stream, let generation, let reason, _, _):
      guard try await endGeneration(of: stream, generation, reason) else {
        return .again
      }
    case .beat(let outSize, let errSize, let leader, let supervisor):
      return try await takeBeat(outSize, errSize, leader, supervisor)
    case .noexec(let code, let words): emit(.notExecuted(code, words: words))
    case .short: wasCut = true
    case .exit(let record): return try await take(record)
    case .late(let out, let err):
      try await client.store.setLateBytes(out: out, err: err, for: job.id)
      emit(.late(outBytes: out, errBytes: err))
    default: break
    }
    return nil
  }

  private mutating func take(_ evidence: Evidence) async throws -> Outcome? {
    let next = state.next(given: evidence)
    switch next {
    case .launching: return .notStarted
    case .neverStarted(.refused(nil, _)): return nil  // the reason is the next line
    case .neverStarted, .cancelled(nil), .elsewhere, .lost(.removed), .lost(.directoryGone),
      .lost(.startDamaged):
      return .ended(try await change(to: next))
    case .lost:
      // What was written before the machine went down is still to be had.
      return nil
    default:
      _ = try await change(to: next)
      return nil
    }
  }

  private mutating func take(_ frame: Frame) async throws -> Outcome? {
    guard let runs = self[frame.stream].take(frame) else {
      return .again
    }
    try await commit(runs, of: frame.stream)
    // What is behind the size that a beat has told was written since.
    if let size = sizes[frame.stream], self[frame.stream].received > size {
      outputAt = JobStore.now()
    }
    return nil
  }

  private mutating func commit(_ runs: [LineAssembler.Run], of stream: JobStream) async throws {
    guard !runs.isEmpty else { return }
    let generation = self[stream].generation
    guard
      let through = try await client.store.commitRest(
        of: runs, to: job.id, stream, generation: generation)
    else { throw JobError.protocolBroken(host: job.host, "Another client is ahead.") }
    progressed = true
    emit(.committed(stream, through: StreamPosition(generation: generation, offset: through)))
    if stream == .out { try await noteAgentEvents(in: runs) }
  }

  private mutating func noteAgentEvents(in runs: [LineAssembler.Run]) async throws {
    guard var reader else { return }
    let before = (reader.session, reader.outcome)
    for run in runs { _ = reader.read(run.bytes) }
    if let session = reader.session, session != before.0 {
      try await client.store.setAgentSession(session, of: job.id)
    }
    if let outcome = reader.outcome, outcome != before.1 {
      try await client.store.setOutcome(outcome.description, of: job.id)
    }
    self.reader = reader
  }

  /// False when another client has ended this generation differently.
  private mutating func endGeneration(
    of stream: JobStream, _ generation: Int, _ reason: GapReason
  ) async throws -> Bool {
    guard self[stream].generation == generation else { return false }
    // What was received of the last line will never be completed.
    try await commit(self[stream].finish(), of: stream)
    let end = try await client.store.position(of: job.id, stream).offset
    let isOurs = try await client.store.endGeneration(
      of: job.id, stream, generation: generation, reason: reason, at: end)
    if isOurs { emit(.gap(stream, reason, at: end)) }
    let next = try await StreamIntake(of: stream, job: job.id, store: client.store)
    guard next.generation == generation + 1, next.received == .zero else { return false }
    self[stream] = next
    return true
  }

  private mutating func takeBeat(
    _ outSize: ByteOffset, _ errSize: ByteOffset, _ leader: Evidence.Presence,
    _ supervisor: Evidence.Presence
  ) async throws -> Outcome? {
    let isAlive =
      leader == .alive || leader == .unknown || supervisor == .alive
      || supervisor == .unknown
    beatsWithoutLife = isAlive ? 0 : beatsWithoutLife + 1
    sizes = [.out: outSize, .err: errSize]
    evidence?.leader = leader
    evidence?.supervisor = supervisor
    // Twice, and with nothing left to read: the record may be on its way.
    guard beatsWithoutLife >= 2, out.received == outSize, err.received == errSize else {
      if isAlive { _ = try await change(to: .running) }
      return nil
    }
    return .lifeless
  }

  private mutating func take(_ record: ExitRecord) async throws -> Outcome? {
    for stream in JobStream.allCases {
      try await commit(self[stream].finish(), of: stream)
    }
    if try await client.store.finish(job.id, record, evidence: evidence) {
      return .ended(try await client.store.knownJob(job.id).state)
    }
    if wasCut { return .ended(try await change(to: .lost(.outputCut))) }
    return .again
  }

  /// Writes a changed state down, and an unchanged one now and then, since a state has an age.
  private mutating func change(to next: JobState) async throws -> JobState {
    let now = JobStore.now()
    guard next != state || now - recordedAt >= 10 else { return state }
    recordedAt = now
    evidence?.quietSeconds = outputAt.map { max(0, now - $0) }
    try await client.store.record(next, evidence: evidence, for: job.id)
    if next != state { emit(.state(next)) }
    state = next
    return next
  }

  private subscript(stream: JobStream) -> StreamIntake {
    get { stream == .out ? out : err }
    set { if stream == .out { out = newValue } else { err = newValue } }
  }
}
