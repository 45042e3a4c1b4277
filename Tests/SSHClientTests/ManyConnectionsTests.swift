import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  /// Connections leave nothing behind, however they end. Each test is a process of its own, where
  /// nothing else opens descriptors or starts threads.
  @Suite struct ManyConnectionsTests {
    @Test func connectionsInARowLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await useInARow(.libssh2, count: isFullSweep ? 1000 : 48)
      }
    }

    @Test func connectionsBySSHInARowLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await useInARow(.openssh, count: isFullSweep ? 200 : 16)
      }
    }

    @Test func connectionsAtOnceLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await useAtOnce(.libssh2, width: isFullSweep ? 50 : 10)
      }
    }

    @Test func connectionsBySSHAtOnceLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await useAtOnce(.openssh, width: isFullSweep ? 20 : 4)
      }
    }

    /// Whoever looks for leaks must see one: the sanitizer's own exit status.
    @Test func aLeakIsSeenWhereLeaksAreLookedFor() async throws {
      let options = getenv("ASAN_OPTIONS").map { String(cString: $0) } ?? ""
      let looksForLeaks = options.contains("detect_leaks=1")
      await #expect(processExitsWith: looksForLeaks ? .exitCode(23) : .success) {
        for _ in 0..<100 { forgetMemory() }
      }
    }

    @Test func connectionsThatFailLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await withLoopbackServer { server in
          let plain = try PlainServer(.http)
          try server.addHost("plain", port: plain.port)
          try server.addHost("closed", port: try freePort())
          try server.addHost("wrong", port: server.port, configuration: ["User nobody"])
          try server.addHost(
            "unknown", port: server.port, configuration: ["UserKnownHostsFile /dev/null"])
          try await expectNothingLeft(after: isFullSweep ? 500 : 20) { count in
            for _ in 0..<count {
              for alias in ["plain", "closed", "wrong", "unknown"] {
                let connector = try server.connector(alias)
                _ = try await sshError { _ = try await connector.connect() }
              }
            }
          }
        }
      }
    }
  }
}

@inline(never) private func forgetMemory() {
  malloc(1000)?.storeBytes(of: 1, as: UInt8.self)
}

private func useInARow(_ engine: EngineChoice, count: Int) async throws {
  try await withLoopbackServer { server in
    try await expectNothingLeft(after: count) { count in
      for _ in 0..<count { try await useOnce(server, engine) }
    }
  }
}

private func useAtOnce(_ engine: EngineChoice, width: Int) async throws {
  try await withLoopbackServer { server in
    try await expectNothingLeft(after: width * 4) { _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<width { group.addTask { try await useOnce(server, engine) } }
        try await group.waitForAll()
      }
    }
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

/// Runs `body` four times with a quarter of `count`. Descriptors, threads, child processes and
/// temporary folders are to be as many as after the first time. The heap's bins and caches grow by some 90 kB a round at first, whatever
/// the round's size, and by less and less; a session or a channel that is kept is more than that.
/// What nothing points to any more, `make check-all` finds to the byte.
private func expectNothingLeft(
  after count: Int, isolation: isolated (any Actor)? = #isolation,
  _ body: (Int) async throws -> Void
) async throws {
  let temporary = try TemporaryFolder("tmp")
  setenv("TMPDIR", temporary.path, 1)
  try await body(count / 4)
  // A connection's thread ends a moment after the connection.
  try await Task.sleep(for: .seconds(1))
  let first = Census.now()
  var growths: [Int] = []
  for _ in 0..<3 {
    let before = Census.now().heap
    try await body(count / 4)
    try await waitUntil("as few descriptors, threads and children as before") {
      Census.now().isNoMore(than: first)
    }
    #expect(namesInFolder(temporary.path).filter { $0.hasPrefix("pocket.") }.isEmpty)
    growths.append(Census.now().heap - before)
  }
  #expect(growths.min()! < 120_000)
}
