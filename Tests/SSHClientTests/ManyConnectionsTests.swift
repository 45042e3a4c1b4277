import CHeap
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
        try await withLoopbackServer { server in
          try await expectNothingLeft(after: isFullSweep ? 1000 : 50) { count in
            for _ in 0..<count { try await useOnce(server) }
          }
        }
      }
    }

    @Test func connectionsAtOnceLeaveNothing() async throws {
      await #expect(processExitsWith: .success) {
        try await withLoopbackServer { server in
          let width = isFullSweep ? 50 : 10
          try await expectNothingLeft(after: width * 4) { count in
            for _ in 0..<count / width {
              try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<width { group.addTask { try await useOnce(server) } }
                try await group.waitForAll()
              }
            }
          }
        }
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

/// A connection with a command that ends, one that is abandoned, and one that is forgotten.
private func useOnce(_ server: LoopbackServer) async throws {
  let transport = try await server.connector().connect()
  _ = try await transport.run("echo hello")
  let abandoned = try await transport.execute("cat")
  await abandoned.abandon()
  _ = try await transport.execute("cat")
  await transport.close()
}

/// Runs `body` four times with a quarter of `count`. Descriptors and threads are to be as many as
/// after the first time. The heap's bins and caches grow by some 90 kB a round at first, whatever
/// the round's size, and by less and less; a session or a channel that is kept is more than that.
/// What nothing points to any more, `make check-all` finds to the byte.
private func expectNothingLeft(
  after count: Int, isolation: isolated (any Actor)? = #isolation,
  _ body: (Int) async throws -> Void
) async throws {
  try await body(count / 4)
  // A connection's thread ends a moment after the connection.
  try await Task.sleep(for: .seconds(1))
  let first = Census.now()
  var growths: [Int] = []
  for _ in 0..<3 {
    let before = Census.now().heap
    try await body(count / 4)
    try await waitUntil("as few descriptors and threads as before") {
      let now = Census.now()
      return now.descriptors <= first.descriptors && now.threads <= first.threads
    }
    growths.append(Census.now().heap - before)
  }
  #expect(growths.min()! < 120_000)
}

private struct Census {
  var descriptors: Int
  var threads: Int
  /// Bytes in use; 0 where it is not known.
  var heap: Int

  static func now() -> Census {
    Census(
      descriptors: namesInFolder("/proc/self/fd").count,
      threads: namesInFolder("/proc/self/task").count, heap: heap_bytes_in_use())
  }
}
