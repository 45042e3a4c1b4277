import TestSupport
import Testing

@testable import SSHClient

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  /// Which address a connection goes to, and which one it comes from.
  @Suite struct AddressTests {
    private func address(_ name: String, _ port: UInt16) throws -> SocketAddress {
      try #require(SocketAddress.lookUp(name, port: port, .any).get().first)
    }

    private func connect(
      _ addresses: [SocketAddress], isolation: isolated (any Actor)? = #isolation
    ) async throws -> SocketAddress {
      let dialer = Dialer(host: "h", name: "h", port: 1, network: NetworkSettings())
      let connected = try await dialer.connect(
        Dialer.Addresses(remote: addresses, local: nil), deadline: .seconds(10))
      // Without it a handshake takes 80 ms longer.
      var noDelay: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(connected.socket, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, &size)
      #expect(noDelay != 0)
      close(connected.socket)
      return connected.address
    }

    @Test func anAddressThatRefusesIsPassedOver() async throws {
      let plain = try PlainServer(.silent)
      let first = try address("::1", try freePort())
      #expect(first.description.hasPrefix("[::1]:"))
      #expect(try await connect([first, address("127.0.0.1", plain.port)]).host == "127.0.0.1")
      let dead = [first, try address("127.0.0.1", try freePort())]
      let error = try await sshError { _ = try await connect(dead) }
      #expect(error.kind == .unreachable)
      for one in dead { #expect(error.message.contains(one.description)) }
    }

    /// A listener whose queue is full drops what comes, as a firewall does.
    @Test func anAddressThatAnswersNothingHoldsUpTheNextForAMoment() async throws {
      let listener = try listenOnLoopback(port: 0)
      defer { close(listener) }
      listen(listener, 0)
      let port = try localPort(of: listener)
      let silent = try address("127.0.0.1", port)
      var queue: [Int32] = []
      defer { for socket in queue { close(socket) } }
      for _ in 0..<4 { queue.append(try silent.beginConnecting(from: nil).get()) }
      let plain = try PlainServer(.silent)
      let start = ContinuousClock.now
      #expect(
        try await connect([silent, address("127.0.0.1", plain.port)]).description
          == "127.0.0.1:\(plain.port)")
      let duration = ContinuousClock.now - start
      #expect(duration >= .milliseconds(250) && duration < .seconds(8))
    }

    @Test func addressesOfOneKindAndOfBothAreConnectedTo() async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["ListenAddress ::1"]
      try await withLoopbackServer(options) { server in
        let alias = "HostKeyAlias [127.0.0.1]:\(server.port)"
        for (name, lines) in [
          "six": ["HostName ::1", alias],
          "family": ["HostName localhost", "AddressFamily inet", alias],
          "name": ["HostName localhost", alias],
        ] {
          try server.addHost(name, port: server.port, configuration: lines)
          let transport = try await server.connector(name).connect()
          #expect(try await transport.run("exit 3").exit == .code(3), "\(name)")
          await transport.close()
        }
        #expect(server.log.contains("Connection from ::1 port"))
        try server.addHost(
          "other", port: server.port,
          configuration: ["AddressFamily inet6"])
        let connector = try server.connector("other")
        #expect(try await sshError { _ = try await connector.connect() }.phase == .resolve)
      }
    }

    @Test func aConnectionComesFromTheAddressThatIsAskedFor() async throws {
      try await withLoopbackServer { server in
        try server.addHost("bound", port: server.port, configuration: ["BindAddress 127.0.0.2"])
        await (try await server.connector("bound").connect()).close()
        #expect(server.log.contains("Connection from 127.0.0.2 port"))
        try server.addHost("face", port: server.port, configuration: ["BindInterface lo"])
        await (try await server.connector("face").connect()).close()
        #expect(server.log.contains("Connection from 127.0.0.1 port"))
        for (alias, line) in [
          "foreign": "BindAddress 192.0.2.1", "kind": "BindAddress ::1",
          "none": "BindInterface none0",
        ] {
          try server.addHost(alias, port: server.port, configuration: [line])
          let connector = try server.connector(alias)
          let error = try await sshError { _ = try await connector.connect() }
          #expect((error.phase, error.kind) == (.connect, .unreachable), "\(alias): \(error)")
        }
      }
    }

    @Test func thereAreAsManyAttemptsAsTheConfigurationSays() async throws {
      try await withLoopbackServer { server in
        try server.addHost(
          "later", port: server.port,
          configuration: ["ConnectionAttempts 30", "ConnectTimeout 40"])
        try await server.stopListening()
        let begun = Locked(false)
        let connector = try server.connector(
          "later", onPhase: { phase in if phase == .connecting { begun.withLock { $0 = true } } })
        let connecting = Task { try await connector.connect() }
        try await waitUntil("the first attempt") { begun.withLock { $0 } }
        try await Task.sleep(for: .milliseconds(500))
        try await server.startListening()
        await (try await connecting.value).close()
        // Two attempts are one second apart.
        try server.addHost("twice", port: try freePort(), configuration: ["ConnectionAttempts 2"])
        let twice = try server.connector("twice")
        let start = ContinuousClock.now
        #expect(try await sshError { _ = try await twice.connect() }.phase == .connect)
        #expect(ContinuousClock.now - start >= .seconds(1))
      }
    }
  }
}
