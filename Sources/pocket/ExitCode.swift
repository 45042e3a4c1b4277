/// What Pocket's own process ends with. A contract (design §7): scripts depend on the numbers.
struct ExitCode: Equatable, Sendable {
  let rawValue: Int32

  init(_ rawValue: Int32) { self.rawValue = rawValue }

  static let success = ExitCode(0)
  /// `verify`: different; `cancel`: survivors; elsewhere: it did not work.
  static let failure = ExitCode(1)
  /// `verify`: equal, but with gaps.
  static let gaps = ExitCode(3)
  /// The command line cannot be understood, or JOB means no job or several (EX_USAGE).
  static let usage = ExitCode(64)
  /// `cancel`: queued until the host is back (EX_TEMPFAIL).
  static let queued = ExitCode(75)
  /// The host key changed or was revoked (EX_NOPERM).
  static let hostKey = ExitCode(77)
  /// The job ran for longer than its `--timeout`, as timeout(1) says it.
  static let timedOut = ExitCode(124)
  /// The job was ended at its `--max-output`: as a shell says it of SIGXFSZ, by which the kernel ends
  /// who writes beyond a limit on file sizes.
  static let tooMuchOutput = ExitCode(153)
  /// Pocket's own failure, or the job is lost.
  static let pocketFailed = ExitCode(125)
  /// The command cannot be run.
  static let cannotRun = ExitCode(126)
  /// The command was not found.
  static let notFound = ExitCode(127)
  /// Ctrl-C: Pocket has let go, the job lives.
  static let detached = ExitCode(130)
  /// Whoever read our output is gone: what dying of SIGPIPE looks like.
  static let readerGone = ExitCode(141)
  /// The job was cancelled, whatever it made of the signal.
  static let cancelled = ExitCode(143)
  /// The host is unreachable or took no credentials.
  static let unreachable = ExitCode(255)
  /// The job died of this signal.
  static func signal(_ number: Int) -> ExitCode { ExitCode(Int32(128 + number)) }
}

/// Something that went wrong and that is told to the user. `code` is a stable word for `--json`.
struct CommandError: Error, Equatable, Sendable {
  let code: String
  let message: String
  /// Lines that follow the message, such as the candidates of an ambiguous name.
  let details: [String]
  let exit: ExitCode

  init(_ code: String, _ message: String, details: [String] = [], exit: ExitCode) {
    self.code = code
    self.message = message
    self.details = details
    self.exit = exit
  }

  /// The error as `--json` shows it.
  var jsonLine: [UInt8] { JSONLine.bytes(of: ["error": ["code": code, "message": message]]) }
}
