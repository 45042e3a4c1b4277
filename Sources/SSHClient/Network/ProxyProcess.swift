import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A running ProxyCommand: one end of a socket pair is its stdin and stdout, the other the route.
///
/// No thread waits for it while the connection stands. When the connection has ended, one thread
/// ends the program and all that it started in its process group, and reaps it.
///
/// Sendable: every variable is touched under the lock only.
final class ProxyProcess: Carrier, @unchecked Sendable {
  let hops = 0
  private let pid: pid_t
  private let lock = Lock()
  /// The reading end of its stderr; -1 once that has been closed.
  private var errors: Int32
  /// The last that it wrote there.
  private var said: [UInt8] = []
  private var isEnding = false
  /// It was we who ended it.
  private var isWished = false
  /// What had stopped it by then. It is in no terminal's foreground, so it stops when it asks its
  /// user something.
  private var stopSignal: Int32 = 0
  private var status: Int32?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Enough for a few lines.
  private static let sayingLimit = 2048
  /// How long a program whose connection has ended may take to end by itself, so that what it says
  /// of itself is told and not that we killed it.
  private static let grace = Duration.seconds(1)
  private static let patience = Duration.seconds(2)
  private static let tick = Duration.milliseconds(10)

  private init(pid: pid_t, errors: Int32) { (self.pid, self.errors) = (pid, errors) }

  /// Blocks for as long as exec(2) takes: for a thread of its own.
  static func start(_ arguments: [String]) -> Result<Route, SystemError> {
    var pair: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    let noPair = pocket_socket_pair(&pair)
    guard noPair == 0 else { return .failure(SystemError(code: noPair)) }
    let noPipe = pocket_pipe(&errors)
    guard noPipe == 0 else {
      for end in pair { close(end) }
      return .failure(SystemError(code: noPipe))
    }
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    defer { for argument in argv { free(argument) } }
    argv.append(nil)
    var pid: pid_t = 0
    let code = pocket_spawn(
      &pid, arguments[0], argv, pocket_environment(), nil, [pair[1], pair[1], errors[1]])
    // Our copies must go, or the end of the child's output would never come.
    close(pair[1])
    close(errors[1])
    guard code == 0 else {
      close(pair[0])
      close(errors[0])
      return .failure(SystemError(code: code))
    }
    for end in [pair[0], errors[0]] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    return .success(
      Route(
        socket: pair[0], way: "a program (ProxyCommand)",
        carrier: ProxyProcess(pid: pid, errors: errors[0])))
  }

  // MARK: What it says

  var interest: pollfd? {
    lock.withLock { errors < 0 ? nil : pollfd(fd: errors, events: Int16(POLLIN), revents: 0) }
  }

  func listen() { lock.withLock { drain() } }

  /// Must be called under the lock. Bounded, since some program may write for ever.
  private func drain() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<16 where errors >= 0 {
      let count = read(errors, &chunk, chunk.count)
      if count > 0 {
        said = (said + chunk[..<count]).suffix(Self.sayingLimit)
      } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
        close(errors)
        errors = -1
      } else if errno == EAGAIN {
        return
      }
    }
  }

  var knownWords: String? {
    lock.withLock {
      // The socket's end may have been seen first.
      drain()
      let lines = saidLines(said).filter { !$0.isEmpty }.suffix(5)
      return lines.isEmpty ? nil : "the ProxyCommand said “\(lines.joined(separator: "; "))”"
    }
  }

  func lastWords() async -> CarrierEnd? {
    await withCheckedContinuation { continuation in
      let isKnown = lock.withLock {
        if self.status == nil { waiters.append(continuation) }
        return self.status != nil
      }
      if isKnown { continuation.resume() }
    }
    let (status, isWished, stop) = lock.withLock {
      (self.status ?? 0, self.isWished, stopSignal)
    }
    let signal = pocket_termination_signal(status)
    let code = pocket_exit_code(status)
    let manner =
      switch signal {
      case _ where stop == SIGTTIN || stop == SIGTTOU:
        "was stopped, since it asks something at the terminal"
      case 0: "ended with exit code \(code)"
      case SIGTERM where isWished, SIGKILL where isWished: "was still running"
      default: "was ended by signal \(signal)"
      }
    return CarrierEnd(
      words: ["the ProxyCommand \(manner)", knownWords].compactMap { $0 }.joined(separator: "; "),
      // What a shell answers for a program that cannot be run, or that is not there.
      isHopeless: signal == 0 && (code == 126 || code == 127))
  }

  // MARK: Its end

  func end(isWished: Bool) {
    let isFirst = lock.withLock {
      if isEnding { return false }
      (isEnding, self.isWished, stopSignal) = (true, isWished, pocket_stop_signal(pid))
      return true
    }
    guard isFirst else { return }
    // At once and here: this process may be about to exit.
    if isWished { terminate() }
    let wait = isWished ? Duration.zero : Self.grace
    // Without a thread to be had there is no time for manners.
    if !startThread({ self.finish(after: wait) }) { finish(after: .zero, patience: .zero) }
  }

  private func terminate() {
    kill(-pid, SIGTERM)
    // What is stopped takes no other signal before this one.
    kill(-pid, SIGCONT)
  }

  /// Until `waitpid` the zombie keeps the group's number from being given to a stranger.
  private func finish(after grace: Duration, patience: Duration = patience) {
    let start = ContinuousClock.now
    var isTerminated = grace == .zero
    while true {
      let hasEnded = pocket_has_ended(pid) != 0
      let isSilent = lock.withLock {
        drain()
        return errors < 0
      }
      // Whoever else is in the group, most likely, holds its stderr too.
      if hasEnded, isSilent { break }
      let age = ContinuousClock.now - start
      if age >= grace, !isTerminated {
        terminate()
        isTerminated = true
      }
      if age >= grace + patience { break }
      poll(nil, 0, Self.tick.pollMilliseconds)
    }
    kill(-pid, SIGKILL)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    let waiters = lock.withLock {
      drain()
      // A grandchild in a group of its own may hold it for ever.
      if errors >= 0 { close(errors) }
      errors = -1
      self.status = status
      defer { self.waiters = [] }
      return self.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}
