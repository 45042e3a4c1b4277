/// One call that somebody waits for and that would block: it is tried again in every pass until it
/// no longer says so.
///
/// Not Sendable: it lives on the connection's thread.
final class Operation {
  let id: UInt64
  /// The channel it belongs to, if any: it ends with it.
  let channel: UInt32?
  let deadline: ContinuousClock.Instant?
  /// What the waiter gets when the deadline passes.
  let expired: SSHError
  /// Tries once; true when it is over.
  private let attempt: () -> Bool
  /// Gives the error to the waiter, if there still is one.
  private let release: (SSHError) -> Void
  /// libssh2's state machines cannot be left half-way (a channel that is being opened, a packet
  /// that waits for a new key): such an operation goes on when its waiter has left.
  private let outlivesWaiter: () -> Bool
  private(set) var isOver = false
  private(set) var isWatched = true

  init(
    id: UInt64, channel: UInt32?, deadline: ContinuousClock.Instant?, expired: SSHError,
    outlivesWaiter: @escaping () -> Bool, attempt: @escaping () -> Bool,
    release: @escaping (SSHError) -> Void
  ) {
    (self.id, self.channel, self.deadline, self.expired) = (id, channel, deadline, expired)
    (self.attempt, self.release, self.outlivesWaiter) = (attempt, release, outlivesWaiter)
  }

  func tryOnce() {
    if !isOver, attempt() { isOver = true }
  }

  /// The waiter goes away with an error; the operation itself may have to go on.
  func leave(_ error: SSHError) {
    release(error)
    isWatched = false
    if !outlivesWaiter() { isOver = true }
  }

  /// Ends it whatever its state: its channel or the connection is gone.
  func end(_ error: SSHError) {
    release(error)
    (isWatched, isOver) = (false, true)
  }
}

/// What an operation knows about its waiter: whether anyone still wants the result.
final class Waiter<Value: Sendable> {
  private var continuation: CheckedContinuation<Result<Value, SSHError>, Never>?

  init(_ continuation: CheckedContinuation<Result<Value, SSHError>, Never>) {
    self.continuation = continuation
  }

  var isPresent: Bool { continuation != nil }

  func resume(_ result: Result<Value, SSHError>) {
    continuation?.resume(returning: result)
    continuation = nil
  }
}
