import JobModel
import JobStore
import SSHClient

extension HostLink {
  /// Runs `body` on a channel and lets go of the channel in the end. When the link itself has
  /// failed, the connection is let go of, so that the next attempt makes a new one.
  nonisolated func finishing<Value>(
    _ process: any RemoteProcess, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await body()
      await process.abandon()
      return value
    } catch {
      await process.abandon()
      if isLinkFailure(error) { await letGo() }
      throw error
    }
  }
}

private func isLinkFailure(_ error: any Error) -> Bool {
  switch error {
  case let error as SSHError: error.kind != .cancelled
  case JobError.host: true
  // The host's side was killed, or the answer was no answer: a fresh connection costs little.
  case JobError.protocolBroken: true
  default: false
  }
}

/// Decides whether it is of use to try again, and waits before that. A host that was never reached is
/// given up after a time; once it has answered, it is tried for as long as the caller's task lives,
/// and so is a store that others keep busy.
struct Persistence {
  /// Whether the host has answered, or something may at least have arrived there.
  private(set) var wasReached = false
  private static let patienceWithBusyHost = Duration.seconds(300)
  /// The store has waited for others by itself before it says that it is busy.
  private static let pauseForStore = Duration.seconds(1)
  private let patience: Duration
  private let progress: @Sendable (JobEvent) -> Void
  private let start = ContinuousClock.now
  private var backoff = Backoff()
  private var brokenAnswers = 0

  init(patience: Duration, progress: @escaping @Sendable (JobEvent) -> Void) {
    self.patience = patience
    self.progress = progress
  }

  /// The host has answered as it should.
  mutating func noteAnswer(progressed: Bool) {
    wasReached = true
    brokenAnswers = 0
    if progressed { backoff.reset() }
  }

  /// Waits before the next attempt.
  ///
  /// - Throws: `error` as a `JobError`, when another attempt would be of no use.
  mutating func recover(from error: any Error) async throws {
    if let busy = StoreError(busyIn: error) {
      progress(.storeBusy(busy))
      return try await Task.sleep(for: Self.pauseForStore)
    }
    let error = (error as? SSHError).map(JobError.init) ?? error
    guard let failure = error as? JobError else { throw error }
    var sshError: SSHError?
    switch failure {
    case .host(let error) where error.isWorthRetrying:
      sshError = error
      // Beyond authentication something may have arrived.
      if [.open, .transfer, .linkDead].contains(error.phase) { wasReached = true }
    case .protocolBroken where brokenAnswers < 4,
      .hostFailed(_, .nostart, _) where brokenAnswers < 4,
      .hostFailed(_, .payload, _) where brokenAnswers < 4,
      // Who is refused says why; who says nothing was killed.
      .hostFailed(_, .write, words: "") where brokenAnswers < 4:
      // A login shell that never lets our script run will not do so the fifth time either.
      brokenAnswers += 1
      wasReached = true
    default: throw failure
    }
    // A full server is there, and has room again when others have logged in.
    let patience = sshError?.kind == .busy ? max(patience, Self.patienceWithBusyHost) : patience
    if !wasReached, ContinuousClock.now - start > patience { throw failure }
    let wait = backoff.wait(after: sshError)
    progress(.disconnected(failure, retryIn: wait))
    try await Task.sleep(for: wait)
  }
}

extension StoreError {
  /// The store's error in another one, if it says that others keep the store busy.
  fileprivate init?(busyIn error: any Error) {
    var found = error as? StoreError
    if case .store(let inner)? = error as? JobError { found = inner }
    guard let found, found.isBusy else { return nil }
    self = found
  }
}
