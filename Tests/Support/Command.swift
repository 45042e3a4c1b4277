#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program to run, as a value. Nothing of this process's environment reaches it but PATH and
/// TMPDIR, so that no test can meet the user's own home.
public struct Command: Sendable {
  /// What the program reads on its standard input.
  public enum Input: Sendable {
    /// `/dev/null`.
    case null
    /// These bytes, then end of file.
    case bytes([UInt8])
    /// A pipe to be written to while it runs.
    case open
  }

  /// Where the program's output goes.
  public enum Output: Sendable {
    /// Into memory.
    case collect
    /// `/dev/null`.
    case discard
    /// Into a file, which is made or emptied.
    case file(String)
  }

  /// A path, or a name to be found on PATH.
  public var program: String
  public var arguments: [String]
  public var environment: [String: String]
  /// The working directory; nil is this process's own.
  public var folder: String?
  public var input: Input = .null
  public var output: Output = .collect
  public var errorOutput: Output = .collect
  /// Whether the program's memory is measured while it runs (by looking every 10 ms).
  public var measuresMemory = false

  public init(
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
  public static var plainEnvironment: [String: String] {
    var plain = ["HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "POCKET_TESTING": "1"]
    for name in ["PATH", "TMPDIR"] {
      if let value = getenv(name) { plain[name] = String(cString: value) }
    }
    return plain
  }

  /// Starts the program in a process group of its own.
  ///
  /// - Throws: `SystemError`, for one when the program is not there.
  public func start() throws -> RunningCommand { try RunningCommand(self) }

  /// Runs the program to its end, whatever its exit code.
  ///
  /// - Throws: `SystemError`, or `CommandTookTooLong` after its process group was killed.
  public func run(deadline: Duration = .seconds(60)) async throws -> CommandResult {
    try await start().exit(deadline: deadline)
  }

  /// Runs the program to its end and gives its standard output without the last line's end.
  ///
  /// - Throws: also `CommandFailed`, when the exit code is not 0.
  @discardableResult
  public func succeed(deadline: Duration = .seconds(60)) async throws -> String {
    let result = try await run(deadline: deadline)
    guard result.end == .code(0) else { throw CommandFailed(command: self, result: result) }
    let text = result.outputText
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}

/// How a program ended and what it wrote.
public struct CommandResult: Sendable {
  /// A program ends by itself with a code, or by a signal.
  public enum End: Sendable, Equatable {
    case code(Int32)
    case signal(Int32)
  }

  public let end: End
  public let output: [UInt8]
  public let errorOutput: [UInt8]
  /// How long it ran.
  public let duration: Duration
  /// The most memory that was resident at once; 0 where it was not measured.
  public let peakResidentBytes: Int

  /// The exit code, or nil after a signal.
  public var code: Int32? { if case .code(let code) = end { code } else { nil } }
  /// The output as text, for messages and comparisons of texts.
  public var outputText: String { String(decoding: output, as: UTF8.self) }
  /// The error output as text.
  public var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
}

/// A program that was to succeed and did not.
public struct CommandFailed: Error, CustomStringConvertible {
  public let command: Command
  public let result: CommandResult

  public var description: String {
    "\(command.program) \(command.arguments): \(result.end)\n\(result.outputText)"
      + result.errorText
  }
}

/// A program that had not ended at its deadline and was killed for it.
public struct CommandTookTooLong: Error, CustomStringConvertible {
  public let command: Command
  public let deadline: Duration
  public let output: [UInt8]
  public let errorOutput: [UInt8]

  public var description: String {
    "\(command.program) \(command.arguments): had not ended after \(deadline)\n"
      + String(decoding: output, as: UTF8.self) + String(decoding: errorOutput, as: UTF8.self)
  }
}
