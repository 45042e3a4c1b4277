#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A thread of the store's own: SQLite waits for disks and other processes, and the cooperative pool
/// has as few threads as the machine has cores.
final class StoreThread: SerialExecutor {
  private let queue = WorkQueue()

  /// Starts the thread.
  init() {
    startThread { [queue] in queue.run() }
  }

  // The thread holds the queue, not this object, and ends when the queue is closed and empty.
  deinit { queue.close() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The work keeps the executor alive until the job has run: the job may release the actor.
    queue.add { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Runs `work` on the thread.
  func run<Result>(
    _ work: @escaping @Sendable () throws(StoreError) -> sending Result
  ) async throws(StoreError) -> sending Result {
    let result: Swift.Result<Result, StoreError> = await withCheckedContinuation { continuation in
      queue.add {
        do throws(StoreError) {
          continuation.resume(returning: .success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}

/// Work that waits for a thread.
///
/// Unchecked, and right: `work` and `isClosed` are touched with the mutex held only, and mutex and
/// condition live as long as this object.
private final class WorkQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var work: [@Sendable () -> Void] = []
  private var isClosed = false

  init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func add(_ item: @escaping @Sendable () -> Void) {
    pthread_mutex_lock(mutex)
    work.append(item)
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Does the work as it comes, until the queue is closed.
  func run() {
    while let items = next() {
      for item in items { item() }
    }
  }

  private func next() -> [@Sendable () -> Void]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while work.isEmpty {
      if isClosed { return nil }
      pthread_cond_wait(condition, mutex)
    }
    defer { work = [] }
    return work
  }
}

/// Runs `body` on a new thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let work = Unmanaged.passRetained(Work(body))
  let error = pthread_create(
    &thread, nil,
    { argument in
      let pointer: UnsafeMutableRawPointer? = argument
      if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
      return nil
    }, work.toOpaque())
  precondition(error == 0, "no thread could be made: error \(error)")
  #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
  #else
    pthread_detach(thread)
  #endif
}
