#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Watches a store's file from a thread and a connection of its own: SQLite's `data_version` moves
/// when any other connection has committed (sqlite.org/pragma.html#pragma_data_version).
enum StoreWatch {
  /// The shortest and the longest time between two looks, in microseconds. After a change it looks
  /// often, and ever less while nothing happens.
  private static let pauses: ClosedRange<UInt32> = 100_000...500_000

  static func changes(at location: StoreLocation) -> AsyncThrowingStream<Void, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let ended = Flag()
      continuation.onTermination = { _ in ended.raise() }
      startThread {
        do throws(StoreError) {
          try watch(location, until: ended) { continuation.yield() }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
    }
  }

  private static func watch(
    _ location: StoreLocation, until ended: Flag, _ changed: () -> Void
  ) throws(StoreError) {
    let connection = try Connection(path: location.path)
    var seen: Int64?
    var pause = pauses.lowerBound
    while !ended.isRaised {
      let version = try connection.first("PRAGMA data_version") { $0.integer(0) }
      if version != seen {
        seen = version
        pause = pauses.lowerBound
        changed()
      } else {
        pause = min(pause + pause / 8, pauses.upperBound)
      }
      usleep(pause)
    }
  }
}

/// Raised once by one thread, seen by another.
///
/// Unchecked, and right: the value is touched with the mutex held only, and the mutex lives as long
/// as this object.
private final class Flag: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value = false

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  var isRaised: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return value
  }

  func raise() {
    pthread_mutex_lock(mutex)
    value = true
    pthread_mutex_unlock(mutex)
  }
}
