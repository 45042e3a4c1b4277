import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A pthread mutex. (`Synchronization.Mutex` makes ThreadSanitizer see races that are none.)
///
/// Sendable: the mutex lies at a fixed address of its own, and a mutex is made to be shared.
final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Value>(_ body: () throws -> Value) rethrows -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}
