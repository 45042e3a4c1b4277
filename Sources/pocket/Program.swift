import JobStore
import PocketKit
import SSHClient

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One run of the program, without the process around it.
enum Program {
  static let version = "0.1.0"

  /// Does what the words ask for, and shows whatever goes wrong.
  static func run(_ words: [Word], in context: CommandContext) async -> ExitCode {
    var context = context
    let asJSON = wantsJSON(words)
    let intents = IntentTeller(context.console, now: context.now, asJSON: asJSON)
    context.intents = intents
    var code: ExitCode
    do {
      code = try await perform(words, in: context)
    } catch {
      code = await show(error, asJSON: asJSON, in: context)
    }
    await intents.finish()
    do {
      try await context.console.finish()
    } catch {
      if code == .success { code = error.isReaderGone ? .readerGone : .pocketFailed }
    }
    return code
  }

  private static func perform(_ words: [Word], in context: CommandContext) async throws -> ExitCode
  {
    let console = context.console
    switch try context.table.parse(words) {
    case .run(let command, let invocation):
      return try await command.run(invocation, context)
    case .help(let command):
      try await console.write(Array(HelpPage.text(for: command, in: context.table).utf8))
    case .topic(let topic):
      try await console.write(Array(HelpPage.text(for: topic).utf8))
    case .version:
      try await console.print("pocket \(version)")
    }
    return .success
  }

  /// Whether errors too are to be JSON; asked before the words are known to make sense.
  private static func wantsJSON(_ words: [Word]) -> Bool {
    words.prefix { $0 != "--" }.contains("--json")
  }

  private static func show(
    _ error: any Error, asJSON: Bool, in context: CommandContext
  ) async -> ExitCode {
    if let output = error as? OutputError, output.isReaderGone { return .readerGone }
    let usage = error as? UsageError
    let told = CommandError(describing: error)
    do {
      try await context.console.show(status: nil)
      if asJSON {
        try await context.console.writeErrors(told.jsonLine)
      } else {
        for line in usage?.lines ?? [told.message] + told.details {
          try await context.console.say(line)
        }
      }
    } catch {
      // stderr is gone as well: the exit code is all that is left to say it with.
      return told.exit
    }
    return told.exit
  }
}

extension CommandError {
  /// What to tell the user of any error.
  init(describing error: any Error) {
    switch error {
    case let error as CommandError:
      self = error
    case let error as JobError:
      self.init(error)
    case let error as StoreError:
      self.init(error)
    case let error as SSHError:
      self.init(error)
    case let error as UsageError:
      self.init("usage", error.lines.joined(separator: "; "), exit: .usage)
    case let error as OutputError:
      let reason = String(cString: strerror(error.number))
      self.init("output", "cannot write the output: \(reason)", exit: .pocketFailed)
    default:
      self.init("internal", String(describing: error), exit: .pocketFailed)
    }
  }
}
