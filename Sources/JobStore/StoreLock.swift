#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The lock behind which all write transactions and all checkpoints of all processes go one at a
/// time, so that the WAL-reset bug cannot happen (`SQLiteLibrary.hasWALResetBug`). It is always
/// taken: another process may use an affected library even where ours is not.
///
/// flock(2): the kernel drops it when its holder dies. It belongs to the open file, not to the
/// process, so two stores in one process exclude each other as well.
final class StoreLock {
  /// How long to wait for other writers before giving up, in seconds.
  static let patience = 10
  /// After how long a wait is told, in seconds.
  private static let patienceInSilence = 2

  /// Called once in a wait that takes long.
  private let onWait: @Sendable () -> Void
  private let path: String
  private let file: Int32

  /// Opens the lock file, and makes it where it is missing.
  init(path: String, onWait: @escaping @Sendable () -> Void = {}) throws(StoreError) {
    (self.path, self.onWait) = (path, onWait)
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .file(path: path, doing: "open the lock file", errno: errno) }
  }

  deinit { close(file) }

  /// Runs `body` while nobody else writes. It blocks the thread for `patience` at most.
  func withLock<Result>(
    patience: Int = StoreLock.patience, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try acquire(patience: patience)
    defer { flock(file, LOCK_UN) }
    return try body()
  }

  private func acquire(patience: Int) throws(StoreError) {
    let start = ContinuousClock.now
    let deadline = start + .seconds(patience)
    var wasTold = false
    var pause: UInt32 = 200
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw .file(path: path, doing: "lock", errno: errno)
      }
      guard ContinuousClock.now < deadline else { throw .lockHeld(path: path, seconds: patience) }
      if !wasTold, ContinuousClock.now > start + .seconds(Self.patienceInSilence) {
        wasTold = true
        onWait()
      }
      // flock has no wait with a deadline. The pauses stay short, since a busy writer lets go of
      // the lock for moments only.
      usleep(pause)
      pause = min(pause * 2, 2000)
    }
  }
}
