import CPosix
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Ctrl-C while a job is followed: the first is an event for the program, which lets go of the job;
/// the second ends the process at once.
enum Interrupts {
  /// The first interrupt. From the call on, SIGINT no longer kills this process by itself.
  static func first() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    var ends: [Int32] = [-1, -1]
    // Without a pipe Ctrl-C kills this process, and the job lives all the same.
    guard pipe(&ends) == 0 else { return stream }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    guard pocket_signal_to_descriptor(SIGINT, writeEnd) == 0 else { return stream }
    // A queue of its own for the rest of the process's life: the read below blocks.
    DispatchQueue(label: "pocket.interrupts").async {
      var seen = 0
      var byte: UInt8 = 0
      while true {
        let count = read(readEnd, &byte, 1)
        if count < 0, errno == EINTR { continue }
        guard count == 1 else { return }
        seen += 1
        if seen > 1 { _exit(ExitCode.detached.rawValue) }
        continuation.yield()
      }
    }
    return stream
  }
}
