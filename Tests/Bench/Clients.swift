import SSHClient
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The programs that are timed, on one host.
struct Clients {
  let server: LoopbackServer
  let host: String
  private let store: TemporaryFolder

  init(server: LoopbackServer, host: String) throws {
    self.init(server: server, host: host, store: try TemporaryFolder("bench"))
  }

  private init(server: LoopbackServer, host: String, store: TemporaryFolder) {
    (self.server, self.host, self.store) = (server, host, store)
  }

  func ssh(_ command: String) -> Command {
    Command("ssh", ["-F", server.sshConfiguration, "-o", "BatchMode=yes", host, command])
  }

  func probe(_ command: String) -> Command {
    Command(CommandLine.arguments[0], ["probe", server.sshConfiguration, host, command])
  }

  func pocket(_ arguments: String...) -> Command {
    Command(
      releaseBinary ?? "pocket", arguments,
      environment: [
        "POCKET_HOME": store.path, "POCKET_SSH_CONFIG": server.sshConfiguration,
        "POCKET_HOST": host, "XDG_CONFIG_HOME": store["config"],
      ], folder: store.path)
  }

  /// The same, with a copy of the store as it is now.
  func withFreshStore() throws -> Clients {
    let copy = try TemporaryFolder("bench")
    for name in namesInFolder(store.path) where name.hasPrefix("pocket.db") {
      try writeFile(copy[name], readFile(store[name]))
    }
    return Clients(server: server, host: host, store: copy)
  }
}

/// A program that did not do what it was timed for.
struct ProgramFailed: Error, CustomStringConvertible {
  var command: Command
  var result: CommandResult

  var description: String {
    "\(command.program) \(command.arguments): \(result.end)\n\(result.errorText)"
  }
}

/// From the program's start until it has written something.
func timeToOutput(_ command: Command) async throws -> Duration {
  let start = ContinuousClock.now
  let running = try command.start()
  try await waitUntil("output of \(command.program)", every: .milliseconds(1)) {
    !running.output.isEmpty || !running.isRunning
  }
  let time = start.duration(to: .now)
  let result = try await running.exit()
  guard result.end == .code(0), !result.output.isEmpty else {
    throw ProgramFailed(command: command, result: result)
  }
  return time
}

/// From the program's start to its end; its output goes nowhere.
func timeToEnd(_ command: Command) async throws -> Duration {
  var command = command
  command.output = .discard
  let result = try await command.run(deadline: .seconds(300))
  guard result.end == .code(0) else { throw ProgramFailed(command: command, result: result) }
  return result.duration
}

/// What `ssh CONFIGURATION HOST COMMAND` does, through SSHClient alone.
func probe(configuration: String, host: String, command: String) async throws -> Never {
  let options = ConnectionOptions(configurationFile: configuration)
  let transport = try await SSHConnector(host: host, options: options).connect()
  let process = try await transport.execute(command, deadline: .seconds(60))
  reading: while true {
    switch try await process.read() {
    case .standardOutput(let bytes): writeAll(bytes)
    case .standardError: continue
    case .endOfFile: break reading
    }
  }
  let end = await process.exit()
  // exit(3) would take apart what the connection's thread still uses.
  _exit(end == .code(0) ? 0 : 1)
}

private func writeAll(_ bytes: [UInt8]) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(1, $0.baseAddress!, $0.count) }
    guard count > 0 else { _exit(1) }
    rest = rest.dropFirst(count)
  }
}
