import CPosix

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that was started. Two threads of its own serve it: one waits for its end, one moves
/// its bytes. When this object goes while the program runs, its process group is killed.
package final class RunningCommand: Sendable {
  /// The program's process id, and its process group's.
  package let pid: Int32
  private let command: Command
  private let started = ContinuousClock.now
  private let shared: Locked<CommandState>
  private let pipes: CommandPipes

  init(_ command: Command) throws {
    self.command = command
    _ = ignoreBrokenPipes
    pipes = try CommandPipes(command)
    pid = try pipes.spawn(command)
    var state = CommandState()
    switch command.input {
    case .null: state.inputEnds = true
    case .bytes(let bytes): (state.pendingInput, state.inputEnds) = (bytes, true)
    case .open: break
    }
    shared = Locked(state)
    let (pid, shared, pipes) = (pid, shared, pipes)
    startThread { awaitEnd(pid, shared, pipes) }
    startThread { pipes.pump(shared, watching: command.measuresMemory ? pid : nil) }
  }

  deinit { signalGroup(SIGKILL) }

  /// What the program has written to its standard output so far.
  package var output: [UInt8] { shared.withLock { $0.output } }
  /// What the program has written to its standard error so far.
  package var errorOutput: [UInt8] { shared.withLock { $0.errorOutput } }
  /// The output so far as text, for messages and comparisons of texts.
  package var outputText: String { String(decoding: output, as: UTF8.self) }
  /// The error output so far as text.
  package var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
  /// Whether the program still runs.
  package var isRunning: Bool { shared.withLock { $0.status == nil } }

  /// How the program ended, once it has and all that it wrote is here; nil before.
  package var result: CommandResult? { shared.withLock { $0.isComplete ? result(of: $0) : nil } }

  /// Hands bytes to the program's standard input (`Command.Input.open`); does not wait for them to
  /// be read.
  package func write(_ bytes: [UInt8]) {
    shared.withLock { $0.pendingInput += bytes }
    pipes.wake()
  }

  /// Ends the program's standard input once all that was written has gone.
  package func closeInput() {
    shared.withLock { $0.inputEnds = true }
    pipes.wake()
  }

  /// Sends a signal to the program alone; nothing happens when it has ended.
  package func signal(_ number: Int32) {
    // Under the lock, so that the id cannot be given to another process in between.
    shared.withLock { if $0.status == nil { _ = kill(pid, number) } }
  }

  /// Sends a signal to the program's process group; nothing happens when the program has ended.
  package func signalGroup(_ number: Int32) {
    shared.withLock { if $0.status == nil { _ = kill(-pid, number) } }
  }

  /// Waits until the output so far satisfies `condition`.
  ///
  /// - Throws: `DidNotHappen`; at once when the program ends before.
  package func waitForOutput(
    _ what: String, deadline: Duration = .seconds(20), _ condition: ([UInt8]) -> Bool
  ) async throws {
    try await waitUntil(what, deadline: deadline, every: .milliseconds(5)) {
      let ended = shared.withLock { $0.isComplete }
      if condition(output) { return true }
      if ended { throw CommandFailed(command: command, result: try await exit()) }
      return false
    }
  }

  /// Waits until the program has ended.
  ///
  /// The output is complete but for what processes that it left behind may still write.
  /// - Throws: `CommandTookTooLong`, after the program's process group was killed.
  package func exit(deadline: Duration = .seconds(60)) async throws -> CommandResult {
    do {
      try await waitUntil(
        "the end of \(command.program)", deadline: deadline, every: .milliseconds(5)
      ) { shared.withLock { $0.isComplete } }
    } catch is DidNotHappen {
      signalGroup(SIGKILL)
      throw CommandTookTooLong(
        command: command, deadline: deadline, output: output, errorOutput: errorOutput)
    }
    return shared.withLock { result(of: $0) }
  }

  private func result(of state: CommandState) -> CommandResult {
    let status = state.status ?? 0
    let signal = pocket_termination_signal(status)
    return CommandResult(
      end: signal == 0 ? .code(pocket_exit_code(status)) : .signal(signal),
      output: state.output, errorOutput: state.errorOutput,
      duration: started.duration(to: state.ended ?? .now),
      peakResidentBytes: state.peakResidentBytes)
  }
}

/// What a command's two threads and its owner share.
struct CommandState {
  var pendingInput: [UInt8] = []
  var inputEnds = false
  var output: [UInt8] = []
  var errorOutput: [UInt8] = []
  /// The status word, once the program has ended and was waited for.
  var status: Int32?
  var ended: ContinuousClock.Instant?
  /// Whether the program has ended and all that it wrote is here.
  var isComplete = false
  var peakResidentBytes = 0
}

/// Writing to a program that has ended must be an error, not this process's death.
private let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

/// Blocks until the program has ended, and reaps it under the lock.
private func awaitEnd(_ pid: Int32, _ shared: Locked<CommandState>, _ pipes: CommandPipes) {
  var info = siginfo_t()
  // Not reaped yet (WNOWAIT): until the status is in place the id stays ours, so that a signal sent
  // under the lock cannot reach a stranger.
  while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
  shared.withLock { state in
    var status: Int32 = 0
    while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
    state.status = status
    state.ended = .now
  }
  pipes.wake()
}
