/// The outside world of a command, in one value: a test gives another one, and no command reads a
/// global.
struct CommandContext: Sendable {
  var environment: Environment
  /// An absolute path.
  var workingDirectory: String
  var console: Console
  /// All of stdin, read to its end.
  var readInput: @Sendable () async throws(CommandError) -> [UInt8]
  /// Seconds since 1970.
  var now: @Sendable () -> Int64
  /// Begins to listen for Ctrl-C; the stream yields the first.
  var interrupts: @Sendable () -> AsyncStream<Void>
  var table: CommandTable
}
