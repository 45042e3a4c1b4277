import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Runs a short program and collects what it prints. Blocks: for a thread of its own.
struct ChildProcess {
  struct Output: Sendable {
    var exitCode: Int32
    var standardOutput: [UInt8]
    var standardError: [UInt8]
  }

  enum Failure: Error, Sendable {
    case cannotStart(SystemError)
    case timedOut
    case killed(signal: Int32)
  }

  /// - Parameters:
  ///   - program: looked up in PATH.
  ///   - limit: the program and its descendants are killed then.
  static func run(
    _ program: String, _ arguments: [String], limit: Duration
  ) -> Result<Output, Failure> {
    let end = ContinuousClock.now + limit
    var output: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { return .failure(.cannotStart(.last())) }
    defer { close(input) }
    let noOutput = pocket_pipe(&output)
    guard noOutput == 0 else { return .failure(.cannotStart(SystemError(code: noOutput))) }
    defer { close(output[0]) }
    let noErrors = pocket_pipe(&errors)
    guard noErrors == 0 else {
      close(output[1])
      return .failure(.cannotStart(SystemError(code: noErrors)))
    }
    defer { close(errors[0]) }
    let started = spawn(program, [program] + arguments, [input, output[1], errors[1]])
    // Our copies must go, or the end of the child's output would never come.
    close(output[1])
    close(errors[1])
    let pid: pid_t
    switch started {
    case .success(let started): pid = started
    case .failure(let failure): return .failure(failure)
    }
    var texts: [[UInt8]] = [[], []]
    let isComplete = collect([output[0], errors[0]], &texts, until: end)
    // The group: `Match exec` may have started more.
    if !isComplete { kill(-pid, SIGKILL) }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    if !isComplete { return .failure(.timedOut) }
    let signal = pocket_termination_signal(status)
    if signal != 0 { return .failure(.killed(signal: signal)) }
    return .success(
      Output(
        exitCode: pocket_exit_code(status), standardOutput: texts[0], standardError: texts[1]))
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ descriptors: [Int32]
  ) -> Result<pid_t, Failure> {
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    defer { for argument in argv { free(argument) } }
    argv.append(nil)
    var pid: pid_t = 0
    let code = pocket_spawn(&pid, program, argv, pocket_environment(), nil, descriptors)
    return code == 0 ? .success(pid) : .failure(.cannotStart(SystemError(code: code)))
  }

  /// Reads both ends to their end; false when the time was over first.
  private static func collect(
    _ ends: [Int32], _ texts: inout [[UInt8]], until end: ContinuousClock.Instant
  ) -> Bool {
    var open = Set(ends.indices)
    var chunk = [UInt8](repeating: 0, count: 16384)
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    while !open.isEmpty {
      let left = end - .now
      if left <= .zero { return false }
      let order = open.sorted()
      var polls = order.map { pollfd(fd: ends[$0], events: Int16(POLLIN), revents: 0) }
      poll(&polls, nfds_t(polls.count), left.pollMilliseconds)
      for (index, entry) in zip(order, polls) where entry.revents != 0 {
        let count = read(entry.fd, &chunk, chunk.count)
        if count > 0 { texts[index] += chunk[..<count] }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { open.remove(index) }
      }
    }
    return true
  }
}
