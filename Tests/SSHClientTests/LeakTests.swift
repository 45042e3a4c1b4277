import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  @Suite struct LeakTests {
    /// In a process of its own, where nothing else opens descriptors or starts threads.
    @Test func hopsAndProgramsLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await withJourney { journey in
          let server = journey.far
          try server.addHost(
            "program", port: server.port,
            configuration: ["ProxyCommand sh -c 'sleep 300 & exec socat - TCP:%h:%p'"])
          try server.addHost(
            "dead", port: server.port,
            configuration: ["ProxyCommand sh -c 'sleep 300 & exit 1'", "ConnectTimeout 1"])
          try journey.addHost("lost", server, ["ProxyJump first,second", "Port 1"])
          for _ in 0..<2 { try await useRoutes(journey) }
          let before = Census.now()
          for _ in 0..<5 { try await useRoutes(journey) }
          try await waitUntil("as few descriptors, threads and children as before") {
            Census.now().isNoMore(than: before)
          }
        }
      }
    }

    @Test(arguments: enginesUnderTest) func aForgottenConnectionIsClosed(_ engine: EngineChoice)
      async throws
    {
      try await withLoopbackServer { server in
        var transport: (any Transport)? = try await server.connector(engine: engine).connect()
        var process: (any RemoteProcess)? = try await transport?.execute("sleep 100")
        try await waitUntil("the connection") { try server.connections().count == 1 }
        transport = nil
        try await Task.sleep(for: .milliseconds(300))
        #expect(try server.connections().count == 1, "its process still holds it")
        process = nil
        try await waitUntil("its end") { try server.connections().isEmpty }
        _ = (transport, process)
      }
    }
  }
}

/// Through hops and a program, in vain and not.
private func useRoutes(_ journey: Journey) async throws {
  for alias in ["far", "program"] {
    let transport = try await journey.connector(alias).connect()
    _ = try await transport.run("echo hello")
    await transport.close()
  }
  for alias in ["dead", "lost"] {
    let connector = try journey.connector(alias)
    _ = try await sshError { _ = try await connector.connect() }
  }
}
