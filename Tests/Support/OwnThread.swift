#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Runs `body` on a new thread. What blocks belongs there: the pool that runs the tests has as many
/// threads as the machine has cores, and two blocked tests would starve it.
package func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  defer { pthread_attr_destroy(&attributes) }
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let work = Unmanaged.passRetained(Work(body))
  let error = pthread_create(
    &thread, &attributes,
    { argument in
      let pointer: UnsafeMutableRawPointer? = argument
      if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
      return nil
    }, work.toOpaque())
  precondition(error == 0, "no thread could be made: error \(error)")
}

/// Runs `body`, which may block, on a thread of its own and gives what it gave.
package func onOwnThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    startThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
}
