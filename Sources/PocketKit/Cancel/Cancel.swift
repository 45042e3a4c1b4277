import Agents
import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// Told how a cancel goes on.
public typealias CancelProgressHandler = @Sendable (CancelProgress) async -> Void

/// A cancel that is in the store, and will be carried out whatever becomes of this process.
public struct QueuedCancel: Sendable {
  /// The job.
  public let job: Job
  let wish: CancelWish
  /// Nil when another client is carrying it out.
  let held: HeldIntent?
}

extension JobClient {
  /// Writes down that the job is to be cancelled, before anything is done about it. A cancel that
  /// waits already is replaced.
  public func queueCancel(
    of id: JobID, _ wish: CancelWish = CancelWish()
  ) async throws(JobError) -> QueuedCancel {
    try await wrapped {
      let job = try await store.knownJob(id)
      try await store.addIntent(.cancel, for: id, wish: wish.description)
      let claim = try await store.claimIntent(.cancel, of: id)
      return QueuedCancel(job: job, wish: wish, held: claim.map { HeldIntent($0, in: store) })
    }
  }

  /// Ends the job with its whole process tree, and proves it dead. To cancel twice, or after the
  /// end, is no error.
  ///
  /// - Parameter progress: told how it goes on.
  /// - Throws: `JobError`; `.cancelQueued` when it could not be carried out now: the wish stays in the
  ///   store and is carried out at the next contact with the host. After any other error it is
  ///   withdrawn, since it would fail again in the same way.
  public func cancel(
    _ queued: QueuedCancel, progress: CancelProgressHandler = { _ in }
  ) async throws(JobError) -> CancelReport {
    let held: HeldIntent
    if let claimed = queued.held {
      held = claimed
    } else {
      held = try await wrapped { try await hold(queued, progress) }
    }
    let cancel = Cancel(job: queued.job, wish: queued.wish, hosts: hosts, store: store)
    return try await cancel.carryOut(held, progress)
  }

  /// Writes the cancel down and carries it out: both of the above.
  public func cancel(
    _ id: JobID, _ wish: CancelWish = CancelWish(), progress: CancelProgressHandler = { _ in }
  ) async throws(JobError) -> CancelReport {
    try await cancel(try await queueCancel(of: id, wish), progress: progress)
  }

  private func hold(
    _ queued: QueuedCancel, _ progress: CancelProgressHandler
  ) async throws -> HeldIntent {
    while true {
      if let claim = try await store.claimIntent(.cancel, of: queued.job.id) {
        return HeldIntent(claim, in: store)
      }
      if try await store.intents(of: queued.job.id).contains(where: { $0.kind == .cancel }) {
        await progress(.waiting)
        try await Task.sleep(for: .milliseconds(300))
      } else {
        // The other client has carried it out. What came of that is for this caller to see as well.
        try await store.addIntent(.cancel, for: queued.job.id, wish: queued.wish.description)
      }
    }
  }

  /// A job that is to be cancelled must not be started first: a cancel that waits for it goes ahead
  /// of a launch.
  func cancelBeforeLaunch(_ job: Job) async throws {
    guard
      let intent = try await store.intents(of: job.id).first(where: { $0.kind == .cancel })
    else { return }
    do throws(JobError) {
      _ = try await cancel(job.id, CancelWish(intent.wish) ?? CancelWish())
    } catch .cancelQueued(let cause) {
      throw cause
    } catch {
      // Swift 6.3 crashes where a typed catch leaves some errors to the function.
      throw error
    }
  }
}

/// The act that a wish to cancel stands for.
struct Cancel: Sendable {
  let job: Job
  let wish: CancelWish
  let hosts: Hosts
  let store: JobStore

  /// Cancels, and takes the wish from the store if nothing is left to be done about it.
  func carryOut(
    _ held: HeldIntent, _ progress: CancelProgressHandler
  ) async throws(JobError) -> CancelReport {
    do throws(JobError) {
      let report = try await wrapped { try await run(progress) }
      try await wrapped { _ = try await store.finish(held.claim) }
      return report
    } catch {
      if error.forbidsTheCancel {
        try await wrapped { _ = try await store.finish(held.claim) }
        throw error
      }
      // When this fails, the claim ends with the object all the same.
      do { try await store.release(held.claim) } catch {}
      if case .cancelled = error { throw error }
      throw .cancelQueued(error)
    }
  }

  private func run(_ progress: CancelProgressHandler) async throws -> CancelReport {
    let link = try await hosts.link(to: job.host)
    let agent = job.request.agent.flatMap(AgentCatalog.agent(named:))
    var exchange = try await link.open(
      RemoteScript(
        .cancel,
        [
          ("id", job.id.description), ("grace", String(wish.grace)),
          ("reach", wish.reach.rawValue), ("leftovers", wish.leftovers.rawValue),
          ("interrupt", agent?.cancelBeginsWithInterrupt == true ? "yes" : "no"),
        ]))
    return try await link.finishing(exchange.process) {
      var report = CancelReport(state: job.state, survivors: [], leftovers: [], wasOver: true)
      var evidence = EvidenceCollector()
      var isAnswered = false
      while let reply = try await exchange.next() {
        evidence.note(reply)
        switch reply {
        case .step(let words): await progress(.step(words))
        case .beyond(let pids): await progress(.beyond(evidence.named(pids)))
        case .survivors(let pids):
          report.survivors = evidence.named(pids)
          (report.wasOver, isAnswered) = (false, true)
        case .leftover(let pids): (report.leftovers, isAnswered) = (evidence.named(pids), true)
        case .removed:
          report.state = job.state.next(given: Evidence(directory: .removed))
          isAnswered = true
        default: break
        }
      }
      guard isAnswered else {
        throw JobError.protocolBroken(host: job.host, "The cancel was not answered.")
      }
      if let found = evidence.evidence { report.state = job.state.next(given: found) }
      try await store.record(
        report.state, evidence: evidence.evidence,
        leftovers: report.survivors + report.leftovers, exit: evidence.evidence?.exit, for: job.id)
      return report
    }
  }
}

extension JobError {
  /// Whether a cancel can never be carried out after this: there is nothing of ours to be signalled
  /// where the host looked.
  fileprivate var forbidsTheCancel: Bool {
    switch self {
    case .hostFailed(_, .stranger, _), .hostFailed(_, .elsewhere, _), .hostFailed(_, .missing, _),
      .store(.noSuchJob):
      true
    default: false
    }
  }
}
