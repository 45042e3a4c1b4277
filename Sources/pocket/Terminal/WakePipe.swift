import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Ends a poll(2) from another thread: a byte makes `wokenEnd` readable.
final class WakePipe: Sendable {
  let wokenEnd: Int32
  let wakeEnd: Int32

  /// nil when the system has no pipe to give.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard pocket_pipe(&ends) == 0 else { return nil }
    (wokenEnd, wakeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  deinit {
    close(wokenEnd)
    close(wakeEnd)
  }

  func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes just as well.
    _ = write(wakeEnd, &byte, 1)
  }

  /// The byte that came: a signal's number, 0 from `wake`, or nil when none has come.
  func takeByte() -> UInt8? {
    var byte: UInt8 = 0
    return read(wokenEnd, &byte, 1) == 1 ? byte : nil
  }

  /// Blocks until `descriptor` is readable or this pipe is.
  func wait(for descriptor: Int32) {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wokenEnd, events: Int16(POLLIN), revents: 0),
    ]
    poll(&entries, nfds_t(entries.count), -1)
  }
}
