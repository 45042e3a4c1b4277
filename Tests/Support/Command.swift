#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program to run, as a value. Nothing of this process's environment reaches it but PATH and
/// TMPDIR, so that no test can meet the user's own home.
package struct Command: Sendable {
  /// What the program reads on its standard input.
  package enum Input: Sendable {
    /// `/dev/null`.
    case null
    /// These bytes, then end of file.
    case bytes([UInt8])
    /// A pipe to be written to while it runs.
    case open
  }

  /// Where the program's output goes.
  package enum Output: Sendable {
    /// Into memory.
    case collect
    /// `/dev/null`.
    case discard
    /// Into a file, which is made or emptied.
    case file(String)
  }

  /// A path, or a name to be found on PATH.
  package var program: String
  package var arguments: [String]
  package var environment: [String: String]
  /// The working directory; nil is this process's own.
  package var folder: String?
  package var input: Input = .null
  package var output: Output = .collect
  package var errorOutput: Output = .collect
  /// Whether the program's memory is measured while it runs (by looking every 10 ms).
  package var measuresMemory = false

  package init(
    _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
    folder: String? = nil, input: Input = .null
  ) {
    self.program = program
    self.arguments = arguments
    self.environment = Self.plainEnvironment.merging(environment) { _, new in new }
    self.folder = folder
    self.input = input
  }

  /// What every program of a test gets unless it says otherwise.
  package static var plainEnvironment: [String: String] {
    var plain = ["HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "POCKET_TESTING": "1"]
    for name in ["PATH", "TMPDIR"] {
      if let value = getenv(name) { plain[name] = String(cString: value) }
    }
    return plain
  }

  /// Starts the program in a process group of its own.
  ///
  /// - Throws: `SystemError`, for one when the program is not there.
  package func start() throws -> RunningCommand { try RunningCommand(self) }

  /// Runs the program to its end, whatever its exit code.
  ///
  /// - Throws: `SystemError`, or `CommandTookTooLong` after its process group was killed.
  package func run(deadline: Duration = .seconds(60)) async throws -> CommandResult {
    try await start().exit(deadline: deadline)
  }

  /// Runs the program to its end and gives its standard output without the last line's end.
  ///
  /// - Throws: also `CommandFailed`, when the exit code is not 0.
  @discardableResult
  package func succeed(deadline: Duration = .seconds(60)) async throws -> String {
    let result = try await run(deadline: deadline)
    guard result.end == .code(0) else { throw CommandFailed(command: self, result: result) }
    let text = result.outputText
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}

/// How a program ended and what it wrote.
package struct CommandResult: Sendable {
  /// A program ends by itself with a code, or by a signal.
  package enum End: Sendable, Equatable {
    case code(Int32)
    case signal(Int32)
  }

  package let end: End
  package let output: [UInt8]
  package let errorOutput: [UInt8]
  /// How long it ran.
  package let duration: Duration
  /// The most memory that was resident at once; 0 where it was not measured.
  package let peakResidentBytes: Int

  /// The exit code, or nil after a signal.
  package var code: Int32? { if case .code(let code) = end { code } else { nil } }
  /// The output as text, for messages and comparisons of texts.
  package var outputText: String { String(decoding: output, as: UTF8.self) }
  /// The error output as text.
  package var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
}

/// A program that was to succeed and did not.
package struct CommandFailed: Error, CustomStringConvertible {
  package let command: Command
  package let result: CommandResult

  package var description: String {
    "\(command.program) \(command.arguments): \(result.end)\n\(result.outputText)"
      + result.errorText
  }
}

/// A program that had not ended at its deadline and was killed for it.
package struct CommandTookTooLong: Error, CustomStringConvertible {
  package let command: Command
  package let deadline: Duration
  package let output: [UInt8]
  package let errorOutput: [UInt8]

  package var description: String {
    "\(command.program) \(command.arguments): had not ended after \(deadline)\n"
      + String(decoding: output, as: UTF8.self) + String(decoding: errorOutput, as: UTF8.self)
  }
}
