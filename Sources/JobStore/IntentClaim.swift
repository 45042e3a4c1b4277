#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The hold on a wish: as long as this exists and is renewed, nobody else carries the wish out. It
/// ends with this process too, however that ends.
public final class IntentClaim: Sendable {
  /// How long a claim lasts that is not renewed, in seconds: a process that was stopped, or a machine
  /// that sleeps, must not keep a wish for ever.
  public static let lease: Int64 = 60

  /// What is wished.
  public let intent: Intent
  /// Wishes have growing numbers.
  public let number: Int64
  private let mark: HolderMark

  var holder: String { mark.word }

  init(intent: Intent, number: Int64, mark: HolderMark) {
    self.intent = intent
    self.number = number
    self.mark = mark
  }
}

/// What shows that the holder of a wish lives: a file beside the store, locked by flock(2). The
/// kernel drops the lock when the process ends, so that a killed client's wish is free at once.
final class HolderMark: Sendable {
  /// By which the store knows the holder.
  let word: String
  private let path: String
  private let file: Int32

  init(in location: StoreLocation) throws(StoreError) {
    word = String(UInt64.random(in: .min ... .max), radix: 36)
    path = Self.path(of: word, in: location)
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .file(path: path, doing: "make the file", errno: errno) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let number = errno
      unlink(path)
      close(file)
      throw .file(path: path, doing: "lock", errno: number)
    }
  }

  deinit {
    unlink(path)
    close(file)
  }

  /// Whether the holder of this word lives, as far as can be seen. The mark of one that was killed is
  /// removed.
  static func isAlive(_ word: String, in location: StoreLocation) -> Bool {
    let path = path(of: word, in: location)
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { return errno != ENOENT }
    defer { close(file) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return true }
    unlink(path)
    return false
  }

  private static func path(of word: String, in location: StoreLocation) -> String {
    "\(location.path)-holder-\(word)"
  }
}
