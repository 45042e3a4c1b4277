#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value behind a pthread mutex. `Synchronization.Mutex` would do, but the thread sanitizer
/// misreports it.
///
/// Unchecked, and right: `value` is touched in `withLock` alone, with the mutex held, and both the
/// mutex and the value live as long as this object.
package final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the mutex held. `body` must not wait for anything.
  package func withLock<Result>(
    _ body: (inout Value) throws -> Result
  ) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
