import JobModel
import JobStore
import SSHClient
import TestSupport
import Testing

@testable import pocket

/// The outside world of a command under test: a folder, an environment, a clock and a store of its
/// own, no hosts, and what the command said.
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

  /// A world with the same folder on a terminal.
  func onTerminal() -> World { World(like: self) }

  private init(like other: World) {
    (folder, environment) = (other.folder, other.environment)
    facts = TerminalFacts(
      inputIsTerminal: true, outputIsTerminal: true, errorsIsTerminal: true, isLively: false)
  }

  /// Runs one command line and gives its exit code and what it wrote.
  @discardableResult
  func run(_ words: Word...) async -> Outcome { await run(words: words) }

  /// The same, with what stands on its stdin or is written in its editor.
  @discardableResult
  func run(words: [Word], input: [UInt8] = []) async -> Outcome {
    output.reset()
    errors.reset()
    let context = CommandContext(
      environment: environment, workingDirectory: folder["work"],
      console: Console(output: output, errors: errors, facts: facts),
      readInput: { () throws(CommandError) in input },
      edit: { _ throws(CommandError) in input }, now: { Self.now },
      interrupts: { AsyncStream { $0.finish() } },
      connector: { host, _, _ throws(SSHError) in
        let named = try SSHConnector(host: host, options: ConnectionOptions())
        return Nowhere(hostName: named.hostName)
      },
      table: .pocket)
    let code = await Program.run(words, in: context)
    return Outcome(code: code.rawValue, output: output.text, errors: errors.text)
  }

  struct Outcome: Equatable {
    var code: Int32
    var output: String
    var errors: String
  }

  func store() async throws -> JobStore {
    try await JobStore(at: StoreLocation(path: folder["store/pocket.db"]))
  }

  /// Puts a job into the store: made an hour ago, with this output, and ended if there is a status.
  @discardableResult
  func add(
    _ id: String, on host: String = "dev1", name: String? = nil, agent: String? = nil,
    command: [String] = ["make", "test"], output: [(JobStream, String)] = [],
    end status: JobModel.ExitStatus? = nil, isCancelled: Bool = false
  ) async throws -> Job {
    let store = try await store()
    let request = JobRequest(agent: agent, name: name, arguments: command.map { Array($0.utf8) })
    let made = Self.now - 3600
    let job = Job(
      id: try #require(JobID(id)), host: host, request: request, createdAt: made)
    try await store.insert(job)
    try await store.recordLaunch(
      of: job.id, attempt: "0123456789abcdef", pid: 4242, pgid: 4242, at: made)
    for (stream, text) in output { try await append(text, to: job.id, stream) }
    guard let status else { return job }
    let record = ExitRecord(
      status: status, outSize: try await store.position(of: job.id, .out).offset,
      errSize: try await store.position(of: job.id, .err).offset, startedAt: made,
      endedAt: made + 90, cancelRequested: isCancelled)
    try #require(await store.finish(job.id, record, at: made + 90))
    return job
  }

  func append(_ text: String, to id: JobID, _ stream: JobStream) async throws {
    let store = try await store()
    let position = try await store.position(of: id, stream)
    let run = LineAssembler.Run(
      offset: position.offset, bytes: Array(text.utf8),
      kind: text.hasSuffix("\n") ? .lines : .fragment)
    _ = try await store.commit(
      [run], to: id, stream, generation: position.generation, at: position.offset)
  }
}

/// A way to a host that is never there, and not worth another try.
private struct Nowhere: Connector {
  let hostName: String
  func connect() async throws(SSHError) -> any Transport {
    throw SSHError(.authentication, .authenticationRefused, host: hostName, "no such test host")
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
