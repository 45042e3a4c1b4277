import CPosix

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The descriptors between a command and us. Everything but `wake` belongs to the thread that runs
/// `pump`.
final class CommandPipes: Sendable {
  private let input: Int32?
  private let output: Int32?
  private let errorOutput: Int32?
  private let wakeUp: WakeUp
  private let childEnds: [Int32]

  init(_ command: Command) throws {
    var opened: [Int32] = []
    func makePipe() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [-1, -1]
      let error = pocket_pipe(&ends)
      if error != 0 { throw SystemError("pipe", error) }
      opened += ends
      return (ends[0], ends[1])
    }
    func openFile(_ path: String, _ flags: Int32) throws -> Int32 {
      let file = try check("open \(path)") { open(path, flags | O_CLOEXEC, 0o600) }
      opened.append(file)
      return file
    }
    func destination(_ output: Command.Output) throws -> (ours: Int32?, theirs: Int32) {
      switch output {
      case .collect:
        let pipe = try makePipe()
        return (pipe.read, pipe.write)
      case .discard: return (nil, try openFile("/dev/null", O_WRONLY))
      case .file(let path): return (nil, try openFile(path, O_WRONLY | O_CREAT | O_TRUNC))
      }
    }
    do {
      wakeUp = try WakeUp()
      let childInput: Int32
      if case .null = command.input {
        (input, childInput) = (nil, try openFile("/dev/null", O_RDONLY))
      } else {
        let pipe = try makePipe()
        (input, childInput) = (pipe.write, pipe.read)
      }
      let out = try destination(command.output)
      let err = try destination(command.errorOutput)
      (output, errorOutput) = (out.ours, err.ours)
      childEnds = [childInput, out.theirs, err.theirs]
    } catch {
      for descriptor in opened { close(descriptor) }
      throw error
    }
    for descriptor in [input, output, errorOutput] {
      if let descriptor { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    }
  }

  /// Makes `pump` look at the shared state again.
  func wake() { wakeUp.signal() }

  /// Starts the program, once. Whether it started or not, the child's ends are closed here.
  func spawn(_ command: Command) throws -> Int32 {
    let arguments = ([command.program] + command.arguments).map { strdup($0) }
    let environment = command.environment.map { strdup("\($0.key)=\($0.value)") }
    defer {
      for text in arguments + environment { free(text) }
      for descriptor in childEnds { close(descriptor) }
    }
    var pid: Int32 = 0
    let error = pocket_spawn(
      &pid, command.program, arguments + [nil], environment + [nil], command.folder, childEnds)
    if error != 0 {
      for case let descriptor? in [input, output, errorOutput] { close(descriptor) }
      throw SystemError("start \(command.program)", error)
    }
    return pid
  }

  /// Moves bytes until the program has ended and nothing more is there to be read at once. It does
  /// not wait for an end of file: processes that the program left behind may hold the pipes.
  func pump(_ shared: Locked<CommandState>, watching memoryOf: Int32?) {
    var (input, output, errorOutput) = (self.input, self.output, self.errorOutput)
    while true {
      wakeUp.clear()
      let hasEnded = shared.withLock { $0.status != nil }
      give(to: &input, shared)
      if hasEnded { closeAndForget(&input) }
      take(from: &output) { bytes in shared.withLock { $0.output += bytes } }
      take(from: &errorOutput) { bytes in shared.withLock { $0.errorOutput += bytes } }
      if hasEnded {
        closeAndForget(&output)
        closeAndForget(&errorOutput)
        shared.withLock { $0.isComplete = true }
        return
      }
      if let memoryOf, let bytes = peakResidentBytes(of: memoryOf) {
        shared.withLock { $0.peakResidentBytes = max($0.peakResidentBytes, bytes) }
      }
      let hasMoreInput = shared.withLock { !$0.pendingInput.isEmpty }
      waitForEvent(
        reading: [wakeUp.descriptor, output, errorOutput], writing: hasMoreInput ? input : nil,
        milliseconds: memoryOf == nil ? -1 : 10)
    }
  }

  private func waitForEvent(reading: [Int32?], writing: Int32?, milliseconds: Int32) {
    var polled = reading.compactMap { $0 }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    if let writing { polled.append(pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)) }
    _ = poll(&polled, nfds_t(polled.count), milliseconds)
  }

  private func take(from descriptor: inout Int32?, _ deliver: ([UInt8]) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while let open = descriptor {
      let count = read(open, &buffer, buffer.count)
      if count > 0 {
        deliver(Array(buffer[..<count]))
      } else if count == -1 && errno == EAGAIN {
        return
      } else if !(count == -1 && errno == EINTR) {
        closeAndForget(&descriptor)
      }
    }
  }

  private func give(to descriptor: inout Int32?, _ shared: Locked<CommandState>) {
    guard let open = descriptor else { return shared.withLock { $0.pendingInput = [] } }
    let isOver = shared.withLock { state in
      var done = 0
      defer { state.pendingInput.removeFirst(done) }
      while done < state.pendingInput.count {
        let count = state.pendingInput.withUnsafeBytes {
          write(open, $0.baseAddress! + done, $0.count - done)
        }
        if count == -1 && errno == EINTR { continue }
        if count == -1 { return errno != EAGAIN }
        done += count
      }
      return state.inputEnds
    }
    if isOver { closeAndForget(&descriptor) }
  }

  private func closeAndForget(_ descriptor: inout Int32?) {
    if let open = descriptor { close(open) }
    descriptor = nil
  }
}

/// The most memory that the process has had resident (`VmHWM`, proc(5)), or nil when it has none
/// any more. Not `ru_maxrss`: that begins with what the process that spawned it had.
private func peakResidentBytes(of pid: Int32) -> Int? {
  guard let text = try? readText("/proc/\(pid)/status"),
    let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
    let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
  else { return nil }
  return Int(kibibytes).map { $0 * 1024 }
}
