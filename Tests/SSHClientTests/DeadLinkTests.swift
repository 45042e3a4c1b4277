import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Less than 10 s is promised, and met where nothing else runs; here other tests keep the machine
/// busy. Without the rule it would be the kernel's quarter of an hour.
let noticingLimit = Duration.seconds(15)

@Suite struct DeadLinkTests {
  @Test(arguments: enginesUnderTest) func aFrozenLinkIsNoticed(
    _ engine: EngineChoice
  ) async throws {
    try await withLoopbackServer { server in
      let proxy = try FaultProxy(server: server.port)
      defer { proxy.stop() }
      try server.addHost("proxied", port: proxy.port)
      let transport = try await server.connector("proxied", engine: engine).connect()
      let process = try await transport.execute("echo begun; sleep 100")
      try await process.readLines(1)
      let start = ContinuousClock.now
      proxy.freeze()
      let error = try await within(.seconds(30), "noticing") {
        try await sshError { _ = try await process.read() }
      }
      #expect(error.phase == .linkDead)
      #expect(error.kind == .unreachable)
      #expect(ContinuousClock.now - start < noticingLimit)
      #expect(await process.exit() == .unknown)
      await transport.close()
    }
  }

  /// Both connections see the silence; the one whose link it is speaks first.
  @Test func aFrozenLinkToAHopIsNoticedThere() async throws {
    try await withJourney { journey in
      let proxy = try FaultProxy(server: journey.first.port)
      defer { proxy.stop() }
      try journey.first.addHost("frozen", port: proxy.port)
      try journey.addHost("behind", journey.far, ["ProxyJump frozen"])
      let transport = try await journey.connector("behind").connect()
      let process = try await transport.execute("echo begun; sleep 100")
      try await process.readLines(1)
      let start = ContinuousClock.now
      proxy.freeze()
      let error = try await within(.seconds(30), "noticing") {
        try await sshError { _ = try await process.read() }
      }
      #expect(error.message.contains("at the hop frozen: The link is dead"))
      #expect(ContinuousClock.now - start < noticingLimit)
      await transport.close()
    }
  }

  /// No channel is open, and nobody waits for anything.
  @Test(arguments: enginesUnderTest) func aStoppedServerIsNoticedOnAnIdleConnectionToo(
    _ engine: EngineChoice
  ) async throws {
    try await withConnection(engine) { transport, server in
      _ = try await transport.run("true")
      for pid in try server.connections() { kill(pid, SIGSTOP) }
      try await Task.sleep(for: .seconds(10))
      let start = ContinuousClock.now
      let error = try await sshError { _ = try await transport.execute("true") }
      #expect(error.phase == .linkDead)
      // At once, and not at the end of execute's own deadline.
      #expect(ContinuousClock.now - start < .seconds(5))
    }
  }

  @Test(arguments: enginesUnderTest) func aQuietLinkIsNotTakenForDead(_ engine: EngineChoice)
    async throws
  {
    try await withConnection(engine) { transport, _ in
      let quiet = try await transport.run("sleep 11; echo awake")
      #expect(quiet.outputText == "awake\n")
    }
  }

  @Test(arguments: enginesUnderTest) func anIdleConnectionStaysUsableWhileTheServerChangesKeys(
    _ engine: EngineChoice
  ) async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["RekeyLimit default 1s"]
    try await withConnection(engine, options) { transport, _ in
      _ = try await transport.run("true")
      try await Task.sleep(for: .seconds(11))
      let last = try await transport.run("exit 3")
      #expect(last.exit == .code(3))
    }
  }

  @Test(arguments: enginesUnderTest, [FaultProxy.Cut.reset, .finish])
  func aCutLinkEndsEveryCallAtOnce(_ engine: EngineChoice, cut: FaultProxy.Cut) async throws {
    try await withLoopbackServer { server in
      let proxy = try FaultProxy(server: server.port)
      defer { proxy.stop() }
      try server.addHost("proxied", port: proxy.port)
      let transport = try await server.connector("proxied", engine: engine).connect()
      let process = try await transport.execute("echo begun; sleep 100")
      try await process.readLines(1)
      proxy.cutNow(by: cut)
      let error = try await within(.seconds(5), "noticing") {
        try await sshError { _ = try await process.read() }
      }
      #expect(error.kind == .unreachable)
      #expect(proxy.didCut)
    }
  }
}
