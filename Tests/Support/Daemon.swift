#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A server program that ends with `end()`, with this object, and with this process however that
/// dies: the shell that starts it ends it when our end of a pipe goes.
package final class Daemon: Sendable {
  private let running: RunningCommand

  /// Starts the program. It must stay in the foreground.
  package init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws
  {
    let script = """
      exec 3<&0
      "$@" </dev/null 3<&- &
      daemon=$!
      echo $daemon
      { read -r _ <&3; kill $daemon; } >/dev/null 2>&1 &
      watcher=$!
      wait $daemon
      kill $watcher
      """
    running = try Command(
      "/bin/sh", ["-c", script, "sh", program] + arguments, environment: environment, input: .open
    ).start()
  }

  /// The program's process id, as soon as the shell has said it, while it runs.
  package var pid: Int32? {
    guard running.isRunning else { return nil }
    return Int32(running.outputText.split(separator: "\n").first ?? "")
  }

  package var isRunning: Bool { running.isRunning }
  /// What the program has written to its standard error so far.
  package var errorText: String { running.errorText }

  /// Tells the program to end (TERM); does not wait for it.
  package func end() { running.closeInput() }

  /// Waits for the end.
  ///
  /// - Throws: `CommandTookTooLong`, after it was killed.
  package func awaitEnd(deadline: Duration = .seconds(10)) async throws {
    _ = try await running.exit(deadline: deadline)
  }
}
