import JobModel
import JobStore
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What stands between the user and the host stops, and goes on: a suspended laptop's tunnel, a VPN
/// that hangs. No end of any connection is told.
@Suite struct StoppedProxyTests {
  /// How long, in seconds; longer than a dead link takes to be noticed (10 s).
  private static let stopped = isFullSweep ? 60 : 14

  @Test func aProxyThatIsStoppedInMidStreamCostsNoByte() async throws {
    try await ProgramWorld.with { world in
      let folder = try TemporaryFolder("relay")
      let checkout = sourceFolder(sourceFolder(sourceFolder(#filePath)))
      // A process of its own, which can be stopped.
      let relay = try Daemon(
        "python3", ["\(checkout)/spikes/relay.py", "\(world.server.port)", folder.path])
      try await waitUntil("the relay's port") { fileExists(folder["port"]) }
      let port = try #require(UInt16(try readText(folder["port"]).dropLast()))
      try world.server.addHost("relayed", port: port)
      let shell =
        "i=0; until [ -e ~/enough ]; do echo \"줄 $i\"; echo e$i >&2; sleep 0.1; i=$((i+1)); done; "
        + "exit 5"
      let client = try world.pocket("run", "-H", "relayed", "--", "sh", "-c", shell).start()
      try await client.waitForOutput("the stream", deadline: .seconds(60)) { $0.count > 100 }
      let id = try await onlyJob(in: world)
      let person = try onTerminal(world.pocket("resume", "\(id)")).start()
      // What is stored is printed before there is a connection.
      let stored = try readFile(world.hostFile(id, .out)).count { $0 == 0x0A }
      try await waitUntil("the stream on a terminal", deadline: .seconds(120)) {
        person.outputText.contains("줄 \(stored + 10)")
      }
      let pid = try #require(relay.pid)
      kill(pid, SIGSTOP)
      let before = try fileSize(world.hostFile(id, .out))
      let start = ContinuousClock.now
      try await waitUntil("“reconnecting” on the terminal", deadline: .seconds(60)) {
        person.outputText.contains("reconnecting")
      }
      try await Task.sleep(until: start + .seconds(Self.stopped))
      #expect(client.isRunning)
      // The job does not notice, and the user is told.
      #expect(try fileSize(world.hostFile(id, .out)) > before + Self.stopped * 20)
      #expect(client.errorText.contains("trying again"), "\(client.errorText)")
      kill(pid, SIGCONT)
      try await waitUntil("the stream again", deadline: .seconds(120)) {
        client.errorText.contains("relayed is back")
      }
      try writeFile(world.server.remoteHome + "/enough", [])
      let result = try await client.exit(deadline: .seconds(120))
      #expect(result.end == .code(5), "\(result.errorText)")
      #expect(try world.isHostFile(result.output, of: id, .out))
      let err = result.errorText.split(separator: "\n").filter { !$0.hasPrefix("pocket: ") }
      let count = result.output.count { $0 == 0x0A }
      #expect(err.count == count && Set(err).count == count)
      #expect(try await person.exit(deadline: .seconds(60)).end == .code(5))
      #expect(try await world.pocket("verify", "\(id)").run().end == .code(0))
    }
  }

  /// The same command with a terminal around it.
  private func onTerminal(_ command: Command) -> Command {
    var seen = command
    seen.program = "script"
    seen.arguments = [
      "-qfec", ([command.program] + command.arguments).joined(separator: " "), "/dev/null",
    ]
    seen.environment["TERM"] = "xterm"
    seen.input = .open
    return seen
  }

  private func onlyJob(in world: ProgramWorld) async throws -> JobID {
    let jobs = try await world.openStore().jobs()
    return try #require(jobs.count == 1 ? jobs.first?.id : nil)
  }
}
