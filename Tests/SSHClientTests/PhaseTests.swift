import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  /// Each phase of connecting has its own deadline and its own words.
  @Suite struct PhaseTests {
    /// Connects to something that is no sshd, with a ConnectTimeout of 2 s.
    private func errorFrom(
      _ behaviour: PlainServer.Behaviour, isolation: isolated (any Actor)? = #isolation
    ) async throws -> (SSHError, Duration) {
      let plain = try PlainServer(behaviour)
      return try await withLoopbackServer { server in
        try server.addHost("plain", port: plain.port, configuration: ["ConnectTimeout 2"])
        let connector = try server.connector("plain")
        let start = ContinuousClock.now
        let error = try await within(.seconds(60), "connecting") {
          try await sshError { _ = try await connector.connect() }
        }
        let duration = ContinuousClock.now - start
        try await waitUntil("the client hanging up") { plain.hangUps > 0 }
        return (error, duration)
      }
    }

    @Test(arguments: [PlainServer.Behaviour.tarpit, .silent])
    func aServerThatNeverSendsABannerTimesOut(behaviour: PlainServer.Behaviour) async throws {
      let (error, duration) = try await errorFrom(behaviour)
      #expect(error.phase == .banner)
      #expect(error.kind == .timedOut)
      // Without ConnectTimeout it would be 10 s.
      #expect(duration > .seconds(2) && duration < .seconds(9))
    }

    @Test func anHTTPServerIsNamedAsWhatItIs() async throws {
      let (error, _) = try await errorFrom(.http)
      #expect(error.phase == .banner)
      #expect(error.kind == .refused)
      #expect(error.message.contains("HTTP/1.1 400 Bad Request"))
    }

    @Test func aConnectionClosedAtOnceIsWorthRetrying() async throws {
      let (error, _) = try await errorFrom(.closesAtOnce)
      #expect(error.phase == .banner)
      #expect(error.kind == .unreachable)
      #expect(error.isWorthRetrying)
    }

    @Test func aServerThatStopsAfterItsBannerTimesOutInTheKeyExchange() async throws {
      let (error, _) = try await errorFrom(.bannerOnly)
      #expect(error.phase == .keyExchange)
      #expect(error.kind == .timedOut)
    }

    /// The server's banner has about 40 bytes, its list of algorithms a thousand, its answer with the
    /// host key some hundreds.
    @Test(arguments: [60, 300, 1000, 1150, 1250, 1400], [FaultProxy.Cut.finish, .reset])
    func aLinkThatIsCutInTheKeyExchangeIsWorthRetrying(bytes: Int, cut: FaultProxy.Cut) async throws
    {
      try await withLoopbackServer { server in
        let proxy = try FaultProxy(server: server.port)
        try server.addHost("cut", port: proxy.port)
        proxy.cut(.toClient, afterBytes: bytes, by: cut)
        proxy.arm()
        let connector = try server.connector("cut")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(proxy.didCut)
        #expect(error.phase == .keyExchange && error.isWorthRetrying, "\(error)")
      }
    }

    @Test func aClosedPortIsAnErrorOfTheConnection() async throws {
      try await withLoopbackServer { server in
        try server.addHost("closed", port: try freePort())
        let connector = try server.connector("closed")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.phase == .connect)
        #expect(error.kind == .unreachable)
        #expect(error.message.contains("refused"))
      }
    }

    @Test func anUnknownNameIsAnErrorOfTheResolver() async throws {
      try await withLoopbackServer { server in
        try server.addHost("nowhere", port: 22, configuration: ["HostName nowhere.invalid"])
        let connector = try server.connector("nowhere")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.phase == .resolve)
        #expect(error.message.contains("nowhere.invalid"))
      }
    }

    @Test func cancellingAHandshakeEndsItAtOnce() async throws {
      let plain = try PlainServer(.silent)
      try await withLoopbackServer { server in
        try server.addHost("plain", port: plain.port)
        let hasBegun = Locked(false)
        let connector = try server.connector(
          "plain",
          onPhase: { phase in if phase == .exchangingKeys { hasBegun.withLock { $0 = true } } })
        let connecting = Task { try await connector.connect() }
        try await waitUntil("the handshake") { hasBegun.withLock { $0 } }
        let start = ContinuousClock.now
        connecting.cancel()
        let error = try await sshError { _ = try await connecting.value }
        #expect(error.kind == .cancelled)
        // Before any deadline could have ended it.
        #expect(ContinuousClock.now - start < .seconds(9))
        try await waitUntil("the client hanging up") { plain.hangUps > 0 }
      }
    }

    @Test func algorithmsThatTheTwoSidesDoNotShareAreNamed() async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["Ciphers aes128-ctr"]
      options.clientConfiguration = ["Ciphers aes256-ctr"]
      try await withLoopbackServer(options) { server in
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.phase == .keyExchange)
        #expect(error.kind == .refused)
        #expect(error.message.contains("cipher (it offers only aes128-ctr)"))
        // The user's own choice: ssh would fail as well.
        #expect(error.beyondLibSSH2 == nil)
      }
    }

    /// What no libssh2 knows, and every ssh does.
    @Test(arguments: [
      ("MACs umac-128@openssh.com", "the MAC umac-128@openssh.com"),
      (
        "KexAlgorithms sntrup761x25519-sha512@openssh.com",
        "the key exchange sntrup761x25519-sha512@openssh.com"
      ),
    ])
    func whatOnlySSHCouldAgreeUponIsNamed(line: String, words: String) async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = [line, "Ciphers aes256-ctr"]
      try await withLoopbackServer(options) { server in
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .refused)
        #expect(error.beyondLibSSH2 == words)
        try server.addHost("own", port: server.port, configuration: [line])
        let own = try server.connector("own")
        let refused = try await sshError { _ = try await own.connect() }
        #expect(refused.kind == .badConfiguration)
        #expect(refused.beyondLibSSH2 == line)
        try await server.ssh("true").succeed()
      }
    }

    @Test func phasesAreReportedInOrderAndAuthenticatedIsTheLast() async throws {
      let phases = Locked<[ConnectionPhase]>([])
      try await withLoopbackServer { server in
        let connector = try server.connector(
          onPhase: { phase in phases.withLock { $0.append(phase) } })
        let transport = try await connector.connect()
        await transport.close()
      }
      #expect(
        phases.withLock { $0 } == [
          .configuring, .resolving, .connecting, .exchangingKeys, .checkingHostKey,
          .authenticating, .authenticated,
        ])
    }
  }
}
