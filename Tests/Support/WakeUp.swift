import CPosix

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A pipe by which any thread ends another's `poll(2)`.
final class WakeUp: Sendable {
  /// The end to poll.
  let descriptor: Int32
  private let other: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    let error = pocket_pipe(&ends)
    if error != 0 { throw SystemError("pipe", error) }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (descriptor, other) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(other)
  }

  /// Wakes the poller; a full pipe is fine, since then a wake-up is under way.
  func signal() {
    var byte: UInt8 = 0
    _ = write(other, &byte, 1)
  }

  /// Forgets the wake-ups so far; called by the poller before it looks at what has changed.
  func clear() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
