import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The thread of one connection: it runs the actor's jobs and poll(2)s its descriptors, so that what
/// is behind them has a single owner and never holds up the cooperative pool.
///
/// The thread lives while the connection is open or jobs wait. A call made after the connection's
/// end starts it anew for that one job, so no late caller hangs and no thread is left behind.
///
/// Sendable: every field but the pipe's constant ends is touched under the lock only.
final class Reactor: SerialExecutor, @unchecked Sendable {
  /// Does what can be done now, with what each descriptor of the last answer was ready for (none at
  /// first); then says what to wait for, or nil when nothing is left. Called on the thread.
  typealias Turn = @Sendable (_ ready: [Int16]) -> Interest?

  private let lock = Lock()
  private var jobs: [UnownedJob] = []
  /// The open connection's turn; it holds the connection, and that the reactor, until its end.
  private var turn: Turn?
  private var isRunning = false
  private var runner: pthread_t?
  /// Whether the thread is in poll(2), or about to be, and must be woken for a new job.
  private var isAsleep = false
  private let wakeEnd: Int32
  private let wokenEnd: Int32

  init(host: String) throws(SSHError) {
    var ends: [Int32] = [-1, -1]
    let failure = pocket_pipe(&ends)
    guard failure == 0 else {
      throw SSHError(
        .connect, .badConfiguration, host: host, "No pipe: \(SystemError(code: failure).words)")
    }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (wokenEnd, wakeEnd) = (ends[0], ends[1])
  }

  deinit {
    close(wokenEnd)
    close(wakeEnd)
  }

  /// From now on the thread also takes this connection's turns, until `release`.
  func serve(_ turn: @escaping Turn) { lock.withLock { self.turn = turn } }

  func release() { lock.withLock { turn = nil } }

  // MARK: Executor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustStart = lock.withLock {
      jobs.append(job)
      if isAsleep {
        isAsleep = false
        var byte: UInt8 = 0
        // A full pipe wakes just as well.
        _ = write(wakeEnd, &byte, 1)
      }
      defer { isRunning = true }
      return !isRunning
    }
    // Without a thread to be had the caller's own does the work; the order is kept all the same.
    if mustStart, !startThread({ self.run() }) { run() }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// SE-0424: lets the loop below use `assumeIsolated`.
  func checkIsolated() {
    let isHere = lock.withLock { runner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    precondition(isHere, "not on the connection's thread")
  }

  // MARK: Loop

  private func run() {
    lock.withLock { runner = pthread_self() }
    var ready: [Int16] = []
    while true {
      let batch = lock.withLock {
        defer { jobs.removeAll(keepingCapacity: true) }
        return jobs
      }
      for job in batch { job.runSynchronously(on: asUnownedSerialExecutor()) }
      if let turn = lock.withLock({ self.turn }) {
        ready = turn(ready).map(sleep(until:)) ?? []
      } else {
        ready = []
        let isOver = lock.withLock {
          guard jobs.isEmpty, self.turn == nil else { return false }
          (isRunning, runner) = (false, nil)
          return true
        }
        if isOver { return }
      }
    }
  }

  /// Waits until a descriptor is ready, a job comes or the deadline passes; answers what each
  /// descriptor is ready for.
  private func sleep(until interest: Interest) -> [Int16] {
    let maySleep = lock.withLock {
      isAsleep = jobs.isEmpty
      return isAsleep
    }
    var polls = [pollfd(fd: wokenEnd, events: Int16(POLLIN), revents: 0)] + interest.polls
    // Even with jobs waiting the descriptors are looked at, or a stream of jobs would starve them.
    let timeout =
      maySleep ? interest.deadline.map { ($0 - .now).pollMilliseconds } ?? -1 : 0
    poll(&polls, nfds_t(polls.count), timeout)
    lock.withLock { isAsleep = false }
    if polls[0].revents != 0 {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(wokenEnd, &bytes, bytes.count) == bytes.count {}
    }
    return polls.dropFirst().map(\.revents)
  }
}

/// What a connection waits for.
struct Interest: Sendable {
  /// For poll(2), which passes over negative descriptors.
  var polls: [pollfd]
  var deadline: ContinuousClock.Instant?
}
