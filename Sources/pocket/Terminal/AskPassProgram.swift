import CPosix
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program that asks in a window of its own (ssh(1), SSH_ASKPASS): the question is its argument,
/// the answer the first line that it prints.
struct AskPassProgram: Sendable, Equatable {
  /// A path, or a name to be found on PATH.
  let program: String

  private static let longest = 4096

  /// nil when it fails, answers nothing, or the task is cancelled.
  func ask(_ prompt: String) async -> [UInt8]? {
    guard let pipe = WakePipe() else { return nil }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "pocket.askpass").async {
          continuation.resume(returning: run(printable(prompt), pipe))
        }
      }
    } onCancel: {
      pipe.wake()
    }
  }

  private func run(_ prompt: String, _ pipe: WakePipe) -> [UInt8]? {
    var ends: [Int32] = [-1, -1]
    guard pocket_pipe(&ends) == 0 else { return nil }
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer {
      close(ends[0])
      close(input)
    }
    let words: [String] = [program, prompt]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    let failure =
      input < 0
      ? errno
      : pocket_spawn(
        &child, program, &arguments, pocket_environment(), nil, [input, ends[1], STDERR_FILENO])
    close(ends[1])
    guard failure == 0 else { return nil }
    let answer = read(ends[0], pipe)
    // Its group: a shell script may have started the true program. Nothing more is wanted of it.
    if answer == nil { kill(-child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return pocket_exit_code(status) == 0 ? answer : nil
  }

  /// All that it prints, up to the end of the first line; nil when the wait was given up.
  private func read(_ descriptor: Int32, _ pipe: WakePipe) -> [UInt8]? {
    var line: [UInt8] = []
    line.reserveCapacity(Self.longest)
    var isComplete = false
    while true {
      pipe.wait(for: descriptor)
      if pipe.takeByte() != nil { return nil }
      var byte: UInt8 = 0
      #if canImport(Glibc)
        let count = Glibc.read(descriptor, &byte, 1)
      #else
        let count = Darwin.read(descriptor, &byte, 1)
      #endif
      if count < 0, errno == EINTR { continue }
      // To its end, so that the program meets no closed pipe.
      if count <= 0 { return line }
      if byte == 0x0A || byte == 0x0D || line.count == Self.longest { isComplete = true }
      if !isComplete { line.append(byte) }
    }
  }
}
