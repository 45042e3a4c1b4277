import CPosix
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A line that the user types at the terminal itself: stdin may be a prompt for a job, and stderr a
/// file.
enum TerminalLine {
  /// One question after another, whichever connections ask.
  private static let queue = DispatchQueue(label: "pocket.question")
  private static let longest = 4096

  /// Whether there is a terminal, and this process may read from it: a job of the shell's background
  /// would be stopped for it (termios(3), SIGTTIN).
  static var isPossible: Bool {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }

  /// Asks and waits; nil when the user gives no answer (Ctrl-C, Ctrl-D on an empty line) or the task
  /// is cancelled.
  ///
  /// - Parameter isVisible: whether what is typed is shown.
  static func ask(_ prompt: String, isVisible: Bool) async -> [UInt8]? {
    guard let pipe = WakePipe() else { return nil }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async {
          // It may have waited for an earlier question until nobody wanted it any more.
          let isWanted = pipe.takeByte() == nil
          continuation.resume(returning: isWanted ? read(prompt, isVisible, pipe) : nil)
        }
      }
    } onCancel: {
      pipe.wake()
    }
  }

  private static func read(_ prompt: String, _ isVisible: Bool, _ pipe: WakePipe) -> [UInt8]? {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    // Made harmless: a server may have chosen the words.
    let words = Array("pocket: \(printable(prompt)) ".utf8)
    /// The terminal is put back, and the line that was not shown is ended.
    func show() {
      guard !isVisible else { return }
      pocket_show_typing()
      write(terminal, [0x0A])
    }
    if !isVisible, pocket_hide_typing(terminal, pipe.wakeEnd) != 0 { return nil }
    write(terminal, words)
    // Of this size from the first, so that no shorter copy of a secret is left behind.
    var line: [UInt8] = []
    line.reserveCapacity(longest)
    while true {
      pipe.wait(for: terminal)
      if let number = pipe.takeByte() {
        if Int32(number) == SIGTSTP {
          // The process was stopped and goes on: what was asked has scrolled away.
          write(terminal, words)
          continue
        }
        show()
        return nil
      }
      var byte: UInt8 = 0
      let count = Self.read(terminal, &byte)
      if count < 0, errno == EINTR { continue }
      guard count == 1, line.count < longest else {
        show()
        return nil
      }
      if byte == 0x0A {
        show()
        return line
      }
      line.append(byte)
    }
  }

  private static func read(_ terminal: Int32, _ byte: inout UInt8) -> Int {
    #if canImport(Glibc)
      Glibc.read(terminal, &byte, 1)
    #else
      Darwin.read(terminal, &byte, 1)
    #endif
  }

  private static func write(_ terminal: Int32, _ bytes: [UInt8]) {
    #if canImport(Glibc)
      _ = Glibc.write(terminal, bytes, bytes.count)
    #else
      _ = Darwin.write(terminal, bytes, bytes.count)
    #endif
  }
}
