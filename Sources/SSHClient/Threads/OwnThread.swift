import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Starts `body` on a new detached thread; false when the system has none to give.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  let box = Unmanaged.passRetained(ThreadBody(body))
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  // A detached thread leaves nothing behind for a join that nobody would call.
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  #if canImport(Glibc)
    var thread = pthread_t()
  #else
    var thread: pthread_t?
  #endif
  let failed = pthread_create(&thread, &attributes, threadMain, box.toOpaque()) != 0
  if failed { box.release() }
  return !failed
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

#if canImport(Glibc)
  private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
  }
#else
  private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
  }
#endif

/// Runs a call that blocks (resolver, `waitpid`, file locks of others) on a thread of its own, so
/// that the cooperative pool keeps its few threads.
///
/// When the deadline passes or the task is cancelled, the caller goes on at once with an error; the
/// thread ends by itself later, and a result that nobody waits for any more is given to `unwanted`.
func onOwnThread<Value: Sendable>(
  deadline: Duration, expired: SSHError,
  unwanted: @escaping @Sendable (Value) -> Void = { _ in },
  _ body: @escaping @Sendable () -> Result<Value, SSHError>
) async throws(SSHError) -> Value {
  let promise = Promise<Value>()
  let started = startThread {
    let result = body()
    if !promise.settle(result), case .success(let value) = result { unwanted(value) }
  }
  guard started else {
    throw SSHError(
      expired.phase, .badConfiguration, host: expired.host, "The system has no thread to give")
  }
  let timer = Task {
    // Cancelled once there is a result: then the sleep throws, and settling again does nothing.
    guard (try? await Task.sleep(for: deadline, clock: .continuous)) != nil else { return }
    _ = promise.settle(.failure(expired))
  }
  defer { timer.cancel() }
  let result = await withTaskCancellationHandler {
    await promise.result()
  } onCancel: {
    _ = promise.settle(.failure(.cancelled(host: expired.host)))
  }
  return try result.get()
}

/// A result that one task waits for and several try to give: the first counts.
///
/// Sendable: all fields are touched under the lock only.
private final class Promise<Value: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var settled: Result<Value, SSHError>?
  private var waiter: CheckedContinuation<Result<Value, SSHError>, Never>?

  /// False when there was a result already.
  func settle(_ result: Result<Value, SSHError>) -> Bool {
    let waiter: CheckedContinuation<Result<Value, SSHError>, Never>?
    let first: Bool
    (first, waiter) = lock.withLock {
      guard settled == nil else { return (false, nil) }
      settled = result
      defer { self.waiter = nil }
      return (true, self.waiter)
    }
    waiter?.resume(returning: result)
    return first
  }

  func result() async -> Result<Value, SSHError> {
    await withCheckedContinuation { continuation in
      let already = lock.withLock {
        if settled == nil { waiter = continuation }
        return settled
      }
      if let already { continuation.resume(returning: already) }
    }
  }
}
