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
    /// In a process of its own, where nothing else opens descriptors or starts threads.
    @Test func fiftyConnectionsLeaveNoDescriptorAndNoThread() async throws {
      await #expect(processExitsWith: .success) {
        try await withLoopbackServer { server in
          for _ in 0..<3 { try await useOnce(server) }
          let before = Census.now()
          for _ in 0..<50 { try await useOnce(server) }
          try await waitUntil("as few descriptors and threads as before") {
            let now = Census.now()
            return now.descriptors <= before.descriptors && now.threads <= before.threads
          }
        }
      }
    }

    @Test func aForgottenConnectionIsClosed() async throws {
      try await withLoopbackServer { server in
        var transport: (any Transport)? = try await server.connector().connect()
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

/// A connection with a command that ends, one that is abandoned, and one that is forgotten.
private func useOnce(_ server: LoopbackServer) async throws {
  let transport = try await server.connector().connect()
  _ = try await transport.run("echo hello")
  let abandoned = try await transport.execute("cat")
  await abandoned.abandon()
  _ = try await transport.execute("cat")
  await transport.close()
}

private struct Census {
  var descriptors: Int
  var threads: Int

  static func now() -> Census {
    Census(
      descriptors: namesInFolder("/proc/self/fd").count,
      threads: namesInFolder("/proc/self/task").count)
  }
}
