import JobModel
import JobStore

/// A job as `--json` shows it. Keys are only ever added, and all are always there; what is not known
/// is null. Times are seconds since 1970, sizes are bytes.
struct JobRecord: Encodable, Sendable {
  let job: Job
  /// How much of each stream's newest generation is in the store.
  let committed: [JobStream: StreamPosition]
  /// Since when a cancel waits for the host; nil when none does.
  let cancelWantedAt: Int64?

  init(_ job: Job, in store: JobStore) async throws {
    self.job = job
    var committed: [JobStream: StreamPosition] = [:]
    for stream in JobStream.allCases {
      committed[stream] = try await store.position(of: job.id, stream)
    }
    self.committed = committed
    cancelWantedAt = try await store.intents(of: job.id).first { $0.kind == .cancel }?.wantedAt
  }

  /// Bytes of both streams that are in the store.
  var storedBytes: Int64 { committed.values.reduce(0) { $0 + $1.offset.rawValue } }

  private enum Key: String, CodingKey {
    case id, host, name, title, agent, state, detail, code, signal, seenAt, proved, createdAt
    case startedAt, endedAt, outBytes, errBytes, outGeneration, errGeneration, lateOutBytes
    case lateErrBytes, leftovers, leftoverProcesses, agentSession, outcome, cancelWantedAt
    case timeoutSeconds, maxOutputBytes, onMaxOutput, limit, cappedStreams
    case lateOutTaken, lateErrTaken, evidence, evidenceAt, silentSince
  }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    let text = job.state.description
    var code: Int?
    var signal: Int?
    switch job.exit?.status ?? job.state.finishedStatus {
    case .code(let number): code = number
    case .signal(let number): signal = number
    case .unknown, nil: break
    }
    try object.encode(job.id.description, forKey: .id)
    try object.encode(job.host, forKey: .host)
    try object.encode(job.name, forKey: .name)
    try object.encode(job.title, forKey: .title)
    try object.encode(job.request.agent, forKey: .agent)
    try object.encode(String(text.prefix { $0 != " " }), forKey: .state)
    try object.encode(text, forKey: .detail)
    try object.encode(code, forKey: .code)
    try object.encode(signal, forKey: .signal)
    try object.encode(job.stateAt, forKey: .seenAt)
    try object.encode(job.proved, forKey: .proved)
    try object.encode(job.createdAt, forKey: .createdAt)
    try object.encode(job.exit?.startedAt, forKey: .startedAt)
    try object.encode(job.exit?.endedAt, forKey: .endedAt)
    try object.encode(committed[.out]?.offset.rawValue, forKey: .outBytes)
    try object.encode(committed[.err]?.offset.rawValue, forKey: .errBytes)
    try object.encode(committed[.out]?.generation, forKey: .outGeneration)
    try object.encode(committed[.err]?.generation, forKey: .errGeneration)
    try object.encode(job.lateOut, forKey: .lateOutBytes)
    try object.encode(job.lateErr, forKey: .lateErrBytes)
    try object.encode(job.lateOutTaken, forKey: .lateOutTaken)
    try object.encode(job.lateErrTaken, forKey: .lateErrTaken)
    try object.encode(job.leftovers.map(\.pid), forKey: .leftovers)
    try object.encode(job.leftovers.map(ProcessRecord.init), forKey: .leftoverProcesses)
    try object.encode(job.agentSession, forKey: .agentSession)
    try object.encode(job.outcome, forKey: .outcome)
    let limits = job.request.limits
    try object.encode(limits.timeout, forKey: .timeoutSeconds)
    try object.encode(limits.maxOutput, forKey: .maxOutputBytes)
    try object.encode(
      limits.maxOutput == nil ? nil : limits.onMaxOutput.rawValue, forKey: .onMaxOutput)
    try object.encode(job.exit?.limit?.rawValue, forKey: .limit)
    let capped = job.exit?.cappedStreams ?? []
    try object.encode(
      JobStream.allCases.filter(capped.contains).map(\.rawValue), forKey: .cappedStreams)
    try object.encode(cancelWantedAt, forKey: .cancelWantedAt)
    try object.encode(job.evidence.map { EvidenceRecord($0, job.exit) }, forKey: .evidence)
    try object.encode(job.evidenceAt, forKey: .evidenceAt)
    try object.encode(job.silentSince, forKey: .silentSince)
  }
}

extension JobRecord {
  /// That a cancel waits for the host, in words; nil when none does.
  func queuedCancel(now: Int64) -> String? { job.queuedCancel(wantedAt: cancelWantedAt, now: now) }
}

extension JobState {
  fileprivate var finishedStatus: ExitStatus? {
    if case .finished(let status) = self { status } else { nil }
  }
}

extension Job {
  func queuedCancel(wantedAt: Int64?, now: Int64) -> String? {
    wantedAt.map { "cancel queued \(age(now - $0)) ago, waits for \(host)" }
  }

  /// Since when neither stream has grown, in seconds since 1970, as long as it runs; nil when that is
  /// not known.
  var silentSince: Int64? { state.known == .running ? outputAt : nil }

  /// How to call the job in a message: its id, and its name where it has one.
  var label: String { id.description + (name.map { " (\($0))" } ?? "") }
}
