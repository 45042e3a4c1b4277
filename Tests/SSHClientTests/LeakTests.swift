import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  @Suite struct LeakTests {
    /// In processes of their own, where nothing else opens descriptors or starts threads.
    @Test func fiftyConnectionsLeaveNoDescriptorAndNoThread() async throws {
      await #expect(processExitsWith: .success) { try await useRepeatedly(.libssh2, times: 50) }
    }

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
            let now = Census.now()
            return now.descriptors <= before.descriptors && now.threads <= before.threads
              && now.children <= before.children
          }
        }
      }
    }

    @Test func connectionsBySSHLeaveNoProcessAndNoFolderEither() async throws {
      await #expect(processExitsWith: .success) { try await useRepeatedly(.openssh, times: 15) }
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

private func useRepeatedly(_ engine: EngineChoice, times: Int) async throws {
  let temporary = try TemporaryFolder("tmp")
  setenv("TMPDIR", temporary.path, 1)
  try await withLoopbackServer { server in
    for _ in 0..<3 { try await useOnce(server, engine) }
    let before = Census.now()
    for _ in 0..<times { try await useOnce(server, engine) }
    try await waitUntil("as few descriptors, threads and children as before") {
      let now = Census.now()
      return now.descriptors <= before.descriptors && now.threads <= before.threads
        && now.children <= before.children
    }
    let folders = namesInFolder(temporary.path).filter { $0.hasPrefix("pocket.") }
    #expect(folders.isEmpty)
  }
}

/// A connection with a command that ends, one that is abandoned, and one that is forgotten.
private func useOnce(_ server: LoopbackServer, _ engine: EngineChoice) async throws {
  let transport = try await server.connector(engine: engine).connect()
  _ = try await transport.run("echo hello")
  let abandoned = try await transport.execute("cat")
  await abandoned.abandon()
  _ = try await transport.execute("cat")
  await transport.close()
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

private struct Census {
  var descriptors: Int
  var threads: Int
  /// Zombies too.
  var children: Int

  static func now() -> Census {
    Census(
      descriptors: namesInFolder("/proc/self/fd").count,
      threads: namesInFolder("/proc/self/task").count,
      children: ((try? ProcessEntry.all()) ?? []).count { $0.parent == getpid() })
  }
}
