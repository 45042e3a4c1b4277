import SSHClient
import TestSupport

@testable import pocket

/// The outside world of a command under test: a folder, an environment and a clock of its own, and
/// what the command said.
final class World: Sendable {
  let folder: TemporaryFolder
  let output = MemorySink()
  let errors = MemorySink()
  let environment: Environment
  let facts: TerminalFacts

  /// The clock of every world, seconds since 1970.
  static let now: Int64 = 1_764_486_000

  init(
    facts: TerminalFacts = TerminalFacts(), environment changes: [String: String] = [:]
  ) throws {
    folder = try TemporaryFolder("pocket-cli")
    var environment = Environment([
      "HOME": folder["home"], "XDG_CONFIG_HOME": folder["config"],
      "POCKET_HOME": folder["store"], "POCKET_TESTING": "1",
    ])
    for (name, value) in changes { environment[name] = value }
    self.environment = environment
    self.facts = facts
    _ = try folder.folder("config")
    _ = try folder.folder("config/pocket")
    _ = try folder.folder("work")
  }

  /// Runs one command line and gives its exit code and what it wrote since the last.
  @discardableResult
  func run(_ words: Word..., input: [UInt8] = []) async -> Outcome {
    output.reset()
    errors.reset()
    let context = CommandContext(
      environment: environment, workingDirectory: folder["work"],
      console: Console(output: output, errors: errors, facts: facts),
      readInput: { () throws(CommandError) in input },
      edit: { _ throws(CommandError) in input }, now: { Self.now },
      interrupts: { AsyncStream { $0.finish() } },
      connector: { host, _, _ throws(SSHError) in
        throw SSHError(.connect, .unreachable, host: host, "this test has no hosts")
      }, table: .pocket)
    let code = await Program.run(words, in: context)
    return Outcome(code: code.rawValue, output: output.text, errors: errors.text)
  }

  struct Outcome: Equatable {
    var code: Int32
    var output: String
    var errors: String
  }
}

/// Keeps what is written to it, and can be told to fail.
final class MemorySink: ByteSink {
  private let state = Locked((bytes: [UInt8](), failure: Int32?.none))

  func write(_ bytes: [UInt8]) throws(OutputError) {
    let failure = state.withLock { state in
      if state.failure == nil { state.bytes += bytes }
      return state.failure
    }
    if let failure { throw OutputError(number: failure) }
  }

  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var text: String { String(decoding: bytes, as: UTF8.self) }
  func reset() { state.withLock { $0.bytes = [] } }
  func fail(with number: Int32) { state.withLock { $0.failure = number } }
}
