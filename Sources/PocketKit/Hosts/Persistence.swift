import SSHClient

extension HostLink {
  /// Runs `body` on a channel and lets go of the channel in the end. When the link itself has
  /// failed, the connection is dropped, so that the next attempt makes a new one.
  nonisolated func finishing<Value>(
    _ process: any RemoteProcess, _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await body()
      await process.abandon()
      return value
    } catch {
      await process.abandon()
      if isLinkFailure(error) { await disconnect() }
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

/// Repeats `body` through failures of the link. A host that was never reached is given up after
/// `patience`; once it answered, it is tried for as long as the caller's task lives.
func persistently<Value>(
  patience: Duration, progress: (JobEvent) -> Void,
  _ body: () async throws -> Value, onGivingUp: (JobError) async throws -> Void
) async throws -> Value {
  var backoff = Backoff()
  var wasReached = false
  var broken = 0
  let start = ContinuousClock.now
  while true {
    do {
      return try await body()
    } catch {
      let error = (error as? SSHError).map(JobError.init) ?? error
      guard let failure = error as? JobError else { throw error }
      var sshError: SSHError?
      switch failure {
      case .host(let error) where error.isWorthRetrying:
        sshError = error
        // Beyond authentication something may have arrived.
        if error.phase == .open || error.phase == .transfer || error.phase == .linkDead {
          wasReached = true
        }
      case .protocolBroken where broken < 4:
        broken += 1
        wasReached = true
      default:
        if !wasReached { try await onGivingUp(failure) }
        throw failure
      }
      if !wasReached, ContinuousClock.now - start > patience {
        try await onGivingUp(failure)
        throw failure
      }
      let wait = backoff.wait(after: sshError)
      progress(.disconnected(failure, retryIn: wait))
      try await Task.sleep(for: wait)
    }
  }
}
