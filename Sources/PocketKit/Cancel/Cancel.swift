import Agents
import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// What a cancel found and did.
public struct CancelReport: Sendable {
  /// The job's state afterwards.
  public var state: JobState
  /// Living processes that KILL did not end. Empty: the tree is proved dead.
  public var survivors: [HostProcess]
  /// Living remains of a job that had ended before; they were left alone unless that was asked for.
  public var leftovers: [HostProcess]
  /// Whether the job was over before this cancel came.
  public var wasOver: Bool
}

/// What a cancel does with the living remains of a job that has ended: it may have started
/// something that is to stay, such as the user's tmux server.
public enum Leftovers: String, Sendable { case list, end }

extension JobClient {
  /// Ends the job with its whole process tree, and proves it dead. To cancel twice, or after the
  /// end, is no error.
  ///
  /// - Parameters:
  ///   - grace: how long the job has between TERM and KILL, in whole seconds.
  ///   - progress: told each step, in words for people.
  /// - Throws: `JobError`; `.cancelQueued` when the host cannot be reached: the wish is kept in the
  ///   store and carried out at the next contact with the host.
  public func cancel(
    _ id: JobID, leftovers: Leftovers = .list, grace: Int = 5,
    progress: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws(JobError) -> CancelReport {
    try await wrapped {
      let job = try await store.knownJob(id)
      try await store.addIntent(.cancel, for: id)
      do {
        return try await cancelNow(
          job, leftovers: leftovers, grace: grace, progress: progress)
      } catch JobError.host(let error) where error.isWorthRetrying {
        throw JobError.cancelQueued(error)
      } catch {
        // Anything else would fail again in the same way; a wish that cannot be met is not kept.
        try await store.clearIntent(.cancel, for: id)
        throw error
      }
    }
  }

  /// Carries out the cancels that wait for this host, which has just answered. What fails stays
  /// queued for the next contact, and is no failure of what the contact was made for.
  func carryOutIntents(on host: String) async {
    let intents: [Intent]
    do { intents = try await store.intents(for: host) } catch { return }
    for intent in intents {
      do {
        let job = try await store.knownJob(intent.job)
        _ = try await cancelNow(job, leftovers: .list, grace: 5) { _ in }
      } catch {}
    }
  }

  private func cancelNow(
    _ job: Job, leftovers: Leftovers, grace: Int, progress: (String) -> Void
  ) async throws -> CancelReport {
    let link = try await hosts.link(to: job.host)
    let agent = job.request.agent.flatMap(AgentCatalog.agent(named:))
    var exchange = try await link.open(
      RemoteScript(
        .cancel,
        [
          ("id", job.id.description), ("grace", String(grace)), ("leftovers", leftovers.rawValue),
          ("interrupt", agent?.cancelBeginsWithInterrupt == true ? "yes" : "no"),
        ]))
    return try await link.finishing(exchange.process) {
      var report = CancelReport(state: job.state, survivors: [], leftovers: [], wasOver: false)
      var evidence = EvidenceCollector()
      var isAnswered = false
      while let reply = try await exchange.next() {
        evidence.note(reply)
        switch reply {
        case .step(let words): progress(words)
        case .survivors(let pids): (report.survivors, isAnswered) = (evidence.named(pids), true)
        case .leftover(let pids):
          (report.leftovers, report.wasOver, isAnswered) = (evidence.named(pids), true, true)
        case .removed: isAnswered = true
        default: break
        }
      }
      guard isAnswered else {
        throw JobError.protocolBroken(host: job.host, "The cancel was not answered.")
      }
      if let found = evidence.evidence { report.state = job.state.next(given: found) }
      try await store.record(
        report.state, leftovers: report.survivors + report.leftovers,
        exit: evidence.evidence?.exit, for: job.id)
      try await store.clearIntent(.cancel, for: job.id)
      return report
    }
  }
}
