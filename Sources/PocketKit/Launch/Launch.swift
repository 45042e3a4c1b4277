import Agents
import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// Values of environment variables that are sent to the host and are kept nowhere.
public typealias Secrets = [(name: String, value: [UInt8])]

extension JobClient {
  /// Starts the job's command: once, however often this is called and by however many clients.
  ///
  /// It goes on through lost connections, for as long as the caller's task lives: once the host has
  /// been reached, nobody can say without asking again whether the command was started.
  ///
  /// - Parameters:
  ///   - secrets: the values of exactly the variables that the request names, in that order.
  ///   - patience: how long a host that was not yet reached is tried; then the job is
  ///     `.neverStarted` if `isNew`, since no byte has left.
  ///   - isNew: whether no earlier launch of this job can be under way.
  ///   - gate: passed before the first byte leaves.
  ///   - progress: told what happens meanwhile.
  /// - Returns: `.running`, `.neverStarted`, `.cancelled`, or `.lost` when it was removed.
  public func launch(
    _ id: JobID, secrets: Secrets = [], patience: Duration = .seconds(20), isNew: Bool = false,
    gate: LaunchGate = LaunchGate(), progress: @escaping @Sendable (JobEvent) -> Void = { _ in }
  ) async throws(JobError) -> JobState {
    try await wrapped {
      let job = try await store.knownJob(id)
      let attempt = LaunchAttempt(client: self, job: job, secrets: secrets, gate: gate)
      var persistence = Persistence(patience: patience, progress: progress)
      while true {
        do {
          try await cancelBeforeLaunch(job)
          return try await attempt.run()
        } catch {
          do {
            try await persistence.recover(from: error)
          } catch let failure as JobError {
            if isNew, !persistence.wasReached { try await noteNotLaunched(id, failure) }
            throw failure
          }
        }
      }
    }
  }

  /// Writes down that a new job was given up before a byte of it left: its gate was closed in time.
  public func noteGivenUp(_ id: JobID) async throws(JobError) {
    try await wrapped {
      _ = try await store.record(
        .neverStarted(.notLaunched("let go before the host was reached")), for: id)
    }
  }

  /// Writes down that no byte of this job has left, if the error says so. After any other error
  /// nobody can tell without asking the host again.
  private func noteNotLaunched(_ id: JobID, _ failure: JobError) async throws {
    switch failure {
    case .host, .noBash:
      let reason = NeverStartedReason.notLaunched(failure.description)
      try await store.record(.neverStarted(reason), for: id)
    default: break
    }
  }
}

/// One exchange of the launch verb.
struct LaunchAttempt: Sendable {
  let client: JobClient
  let job: Job
  let secrets: Secrets
  let gate: LaunchGate

  func run() async throws -> JobState {
    let link = try await client.hosts.link(to: job.host)
    // The payload is made first: what cannot be sent must not reach the host half-way.
    let payload = try preparedPayload()
    var exchange = try await link.open(
      RemoteScript(.launch, [("id", job.id.description), ("digest", job.digest)]),
      gate: gate)
    return try await link.finishing(exchange.process) {
      var outcome: JobState?
      while let reply = try await exchange.next() {
        switch reply {
        case .ready:
          guard let payload else { throw JobError.secretsMissing(job.request.environmentNames) }
          try await exchange.process.write(payload.header(nonce: exchange.nonce) + payload.bytes)
        case .started(_, let pid, let group, let attempt):
          try await client.store.recordLaunch(
            of: job.id, attempt: attempt, pid: pid, pgid: group)
          outcome = .running
        case .refused(let reason, let words):
          outcome = .neverStarted(.refused(reason, words: words))
        case .cancelled: outcome = .cancelled(nil)
        case .removed: outcome = .neverStarted(.removed)
        default: break
        }
      }
      guard let outcome else {
        throw JobError.protocolBroken(host: job.host, "The launch was not answered.")
      }
      try await client.store.record(outcome, for: job.id)
      return outcome
    }
  }

  /// Nil when the secrets are not at hand: an earlier launch may have brought them already.
  private func preparedPayload() throws -> JobPayload? {
    if secrets.isEmpty, !job.request.environmentNames.isEmpty { return nil }
    let agent = job.request.agent.flatMap(AgentCatalog.agent(named:))
    return try job.request.payload(
      created: job.createdAt, secrets: secrets,
      watchScript: RemoteScript.watchScript(
        interrupting: agent?.cancelBeginsWithInterrupt == true))
  }
}
