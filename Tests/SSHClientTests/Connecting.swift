import SSHClient
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Every process that uses SSHClient in tests is marked as such (design, invariant 10).
let isMarkedAsTest = getenv("POCKET_TESTING") != nil || setenv("POCKET_TESTING", "1", 1) == 0

/// The suite that a transport must pass is run with each. The run for a second libssh2 would tell of
/// the ssh program what is known already.
let enginesUnderTest: [EngineChoice] =
  getenv("POCKET_EXPECT_LIBSSH2") == nil ? [.libssh2, .openssh] : [.libssh2]

extension LoopbackServer {
  /// A connector for this server, or for another alias in its ssh_config.
  func connector(
    _ alias: String? = nil, engine: EngineChoice = .libssh2, acceptNewHostKeys: Bool = false,
    ask: (@Sendable (HostKeyQuestion) async -> Bool)? = nil,
    secret: @escaping @Sendable (SecretQuestion) async -> [UInt8]? = { _ in nil },
    onPhase: @escaping @Sendable (ConnectionPhase) -> Void = { _ in },
    onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SSHError) -> SSHConnector {
    precondition(isMarkedAsTest)
    return try SSHConnector(
      host: alias ?? self.alias,
      options: ConnectionOptions(
        engine: engine, configurationFile: sshConfiguration,
        acceptsNewHostKeys: acceptNewHostKeys,
        questions: ask.map { Questions(confirmHostKey: $0, secret: secret) },
        onPhase: onPhase, onNotice: onNotice))
  }
}

/// Runs `body` with a connection by libssh2 to a server of its own.
func withConnection<Result: Sendable>(
  _ options: LoopbackServer.Options = .init(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (any Transport, LoopbackServer) async throws -> Result
) async throws -> Result {
  try await withConnection(.libssh2, options, isolation: isolation, body)
}

/// Runs `body` with a connection by this engine to a server of its own.
func withConnection<Result: Sendable>(
  _ engine: EngineChoice, _ options: LoopbackServer.Options = .init(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (any Transport, LoopbackServer) async throws -> Result
) async throws -> Result {
  try await withLoopbackServer(options) { server in
    let transport = try await server.connector(engine: engine).connect()
    do {
      let result = try await body(transport, server)
      await transport.close()
      return result
    } catch {
      await transport.close()
      throw error
    }
  }
}

/// All that a command gave.
struct Collected: Sendable, Equatable {
  var output: [UInt8] = []
  var errors: [UInt8] = []
  var exit = RemoteExit.unknown

  var outputText: String { String(decoding: output, as: UTF8.self) }
  var errorText: String { String(decoding: errors, as: UTF8.self) }
}

extension Transport {
  func execute(_ command: String) async throws(SSHError) -> any RemoteProcess {
    try await execute(command, deadline: .seconds(10))
  }

  /// Runs a command to its end.
  func run(_ command: String, input: [UInt8] = []) async throws(SSHError) -> Collected {
    let process = try await execute(command)
    if !input.isEmpty { try await process.write(input) }
    try await process.closeStandardInput()
    return try await process.collect()
  }
}

extension RemoteProcess {
  /// Reads both streams to their end and then asks for the exit.
  func collect() async throws(SSHError) -> Collected {
    var all = Collected()
    while true {
      switch try await read() {
      case .standardOutput(let bytes): all.output += bytes
      case .standardError(let bytes): all.errors += bytes
      case .endOfFile:
        all.exit = await exit()
        return all
      }
    }
  }

  /// Reads until stdout has this many lines; what came is returned.
  @discardableResult
  func readLines(_ count: Int) async throws -> String {
    var output: [UInt8] = []
    while output.count(where: { $0 == 0x0A }) < count {
      switch try await read() {
      case .standardOutput(let bytes): output += bytes
      case .standardError: continue
      case .endOfFile: throw EndedTooSoon(output: String(decoding: output, as: UTF8.self))
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}

struct EndedTooSoon: Error {
  var output: String
}

/// Runs `body`, which must end within `deadline`: a call that ignores its own deadline then fails
/// the test by name.
func within<Result: Sendable>(
  _ deadline: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: deadline)
      throw TookTooLong(what: what, deadline: deadline)
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}

struct TookTooLong: Error {
  var what: String
  var deadline: Duration
}

/// The error that `body` throws.
func sshError(_ body: () async throws -> Void) async throws -> SSHError {
  do {
    try await body()
  } catch let error as SSHError {
    return error
  }
  throw DidNotThrow()
}

struct DidNotThrow: Error {}
