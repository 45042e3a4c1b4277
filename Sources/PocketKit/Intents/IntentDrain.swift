import JobModel
import JobStore

/// What becomes of wishes that waited for their host.
public enum IntentEvent: Sendable {
  /// A wish is being carried out.
  case began(Intent, Job)
  /// A cancel goes on.
  case cancelling(Job, CancelProgress)
  /// A cancel has come to its end, or has failed: with `.cancelQueued` it waits for the next contact.
  case cancelled(Intent, Job, Result<CancelReport, JobError>)
}

/// Carries out the wishes that wait for a host, once a connection to it was made. One drain a host
/// and client; each wish is held in the store meanwhile, so that no other client has it too.
actor IntentDrain {
  private let store: JobStore
  private let report: @Sendable (IntentEvent) async -> Void
  private var running: [String: Task<Void, Never>] = [:]

  init(store: JobStore, report: @escaping @Sendable (IntentEvent) async -> Void) {
    self.store = store
    self.report = report
  }

  /// The host was just connected to. Returns at once: what the connection was made for does not
  /// wait for a drain, and does not fail with it.
  func contact(with host: String, through hosts: Hosts) {
    // Its own reconnecting is a contact, too.
    guard running[host] == nil else { return }
    running[host] = Task {
      await drain(host, through: hosts)
      running[host] = nil
    }
  }

  /// Returns when nothing is being carried out any more.
  func settle() async {
    while let drain = running.values.first { await drain.value }
  }

  private func drain(_ host: String, through hosts: Hosts) async {
    var tried: Int64 = 0
    while let (claim, job) = await next(for: host, after: tried) {
      await report(.began(claim.intent, job))
      let result: Result<CancelReport, JobError>
      switch claim.intent.kind {
      case .cancel:
        let cancel = Cancel(
          job: job, wish: CancelWish(claim.intent.wish) ?? CancelWish(), hosts: hosts, store: store)
        let held = HeldIntent(claim, in: store)
        do throws(JobError) {
          result = .success(
            try await cancel.carryOut(held) { [report] in await report(.cancelling(job, $0)) })
        } catch {
          result = .failure(error)
        }
        await report(.cancelled(claim.intent, job, result))
      }
      guard case .failure(let error) = result else { continue }
      tried = claim.number
      // The others would fail in the same way, and the next contact comes.
      if error.isOfTheLink { return }
    }
  }

  private func next(for host: String, after number: Int64) async -> (IntentClaim, Job)? {
    do {
      guard let claim = try await store.claimNextIntent(for: host, after: number),
        let job = try await store.job(claim.intent.job)
      else { return nil }
      return (claim, job)
    } catch {
      // A store that cannot be read or written fails the command itself, which says so.
      return nil
    }
  }
}

extension JobError {
  /// Whether it says more about the way to the host than about what was to be done there.
  fileprivate var isOfTheLink: Bool {
    switch self {
    case .cancelQueued(let cause): cause.isOfTheLink
    case .host, .protocolBroken, .noBash, .store, .cancelled: true
    default: false
    }
  }
}

extension JobClient {
  /// Connects to the host, and returns when what waited for it has been carried out, or has failed.
  public func carryOutIntents(on host: String) async throws(JobError) {
    try await wrapped {
      try await hosts.link(to: host).reach()
      await intents.settle()
    }
  }

  /// Returns when no wish is being carried out any more that waited for a host which this client has
  /// connected to. To be awaited before the process ends, which would cut that short.
  public func settleIntents() async { await intents.settle() }
}
