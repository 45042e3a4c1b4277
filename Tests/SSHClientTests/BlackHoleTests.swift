import SSHClient
import TestSupport
import Testing

/// A link that swallows everything from one moment on, in both directions, is noticed whatever goes
/// on on it.
@Suite struct BlackHoleTests {
  enum Business: Sendable, CaseIterable { case idle, receiving, sending }

  @Test(arguments: Business.allCases)
  func isNoticed(business: Business) async throws {
    try await withLoopbackServer { server in
      let proxy = try FaultProxy(server: server.port)
      defer { proxy.stop() }
      try server.addHost("proxied", port: proxy.port)
      let transport = try await server.connector("proxied").connect()
      _ = try await transport.run("true")
      let work = try await begin(business, on: transport, through: proxy)
      let start = ContinuousClock.now
      proxy.freeze()
      let error = try await within(.seconds(30), "noticing") { try await work.value }
      #expect(error.phase == .linkDead)
      #expect(error.kind == .unreachable)
      #expect(ContinuousClock.now - start < noticingLimit)
      await transport.close()
    }
  }

  /// Returns when bytes flow; the task gives the error that ends it.
  private func begin(
    _ business: Business, on transport: any Transport, through proxy: FaultProxy
  ) async throws -> Task<SSHError, any Error> {
    func flowing(_ direction: FaultProxy.Direction) async throws {
      let before = proxy.bytes(direction)
      try await waitUntil("bytes \(direction)") { proxy.bytes(direction) > before + 1_000_000 }
    }
    switch business {
    case .idle:
      // Nobody waits for anything; whoever comes later is told at once.
      return Task {
        try await Task.sleep(for: .seconds(9))
        return try await sshError {
          _ = try await transport.execute("true", deadline: .seconds(60))
        }
      }
    case .receiving:
      let process = try await transport.execute("exec yes")
      let work = Task { try await sshError { while true { _ = try await process.read() } } }
      try await flowing(.toClient)
      return work
    case .sending:
      let process = try await transport.execute("exec cat >/dev/null")
      let bytes = [UInt8](repeating: 0, count: 1 << 20)
      let work = Task { try await sshError { while true { try await process.write(bytes) } } }
      try await flowing(.toServer)
      return work
    }
  }
}
