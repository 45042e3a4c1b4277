import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  @Suite struct ProxyJumpTests {
    /// The first one changes its keys all the time.
    @Test func twoHopsWithKeysOfTheirOwnCarryAConnection() async throws {
      try await withJourney(firstServer: ["RekeyLimit 4M"]) { journey in
        let phases = Locked<[ConnectionPhase]>([])
        let transport = try await journey.connector(
          onPhase: { phase in phases.withLock { $0.append(phase) } }
        ).connect()
        // The hops' phases are not the host's.
        #expect(
          phases.withLock { $0 } == [
            .configuring, .connecting, .exchangingKeys, .checkingHostKey, .authenticating,
            .authenticated,
          ])
        for server in journey.servers {
          #expect(server.log.contains("Accepted publickey"))
          #expect(try server.connections().count == 1)
        }
        // More than all windows and buffers on the way hold, in both directions.
        let size = 20 << 20
        let down = try await transport.run("head -c \(size) /dev/zero | tr '\\0' a")
        #expect(down.exit == .code(0))
        #expect(down.output.count == size && down.output.allSatisfy { $0 == UInt8(ascii: "a") })
        let up = try await transport.run("wc -c", input: [UInt8](repeating: 7, count: size))
        #expect(up.outputText.hasPrefix("\(size)"))
        await transport.close()
        try await waitUntil("the end of all three") { try journey.connectionsAreGone() }
      }
    }

    /// A hop that nobody names a way to is reached as its own configuration says; one with a way
    /// on the list is not (ssh: `-J first -W far second`).
    @Test func aHopsOwnProxyJumpCountsWhereTheListSaysNothing() async throws {
      try await withJourney { journey in
        try journey.addHost("inner", journey.second, ["ProxyJump first"])
        try journey.addHost("own", journey.far, ["ProxyJump ssh://\(journey.far.user)@inner"])
        let transport = try await journey.connector("own").connect()
        #expect(try await transport.run("exit 3").exit == .code(3))
        #expect(try journey.first.connections().count == 1)
        await transport.close()
        // With its own ProxyJump to a place that does not exist, which the list makes void.
        try journey.addHost("lost", journey.second, ["ProxyJump nowhere.invalid"])
        try journey.addHost("listed", journey.far, ["ProxyJump first,lost"])
        let listed = try await journey.connector("listed").connect()
        await listed.close()
        // Tokens stand for the host behind the hop.
        try journey.addHost("jump-token", journey.second, [])
        try journey.addHost("token", journey.far, ["ProxyJump jump-%n"])
        let token = try await journey.connector("token").connect()
        await token.close()
      }
    }

    @Test func whatIsWrongAtAHopIsSaidOfTheHop() async throws {
      try await withJourney { journey in
        func errorFrom(_ alias: String, _ hop: [String]) async throws -> SSHError {
          try journey.addHost("\(alias)-hop", journey.first, hop)
          try journey.addHost(alias, journey.far, ["ProxyJump \(alias)-hop"])
          let connector = try journey.connector(alias)
          let error = try await sshError { _ = try await connector.connect() }
          #expect(error.host == alias)
          #expect(error.message.contains("at the hop \(alias)-hop: "))
          try await waitUntil("no connection left") { try journey.connectionsAreGone() }
          return error
        }
        let other = journey.far.folder["other"]
        try await LoopbackServer.makeKey("ecdsa", other)
        let key = try readText(other + ".pub")
        let known = try journey.far.folder.write(
          "changed", "[127.0.0.1]:\(journey.first.port) \(key)")
        let changed = try await errorFrom("changed", ["UserKnownHostsFile \(known)"])
        #expect(changed.kind == .hostKeyChanged)
        #expect(!journey.first.log.contains("publickey"))
        let refused = try await errorFrom("refused", ["PubkeyAuthentication no"])
        #expect(refused.kind == .authenticationRefused)
        let closed = try await errorFrom("closed", ["Port \(try freePort())"])
        #expect((closed.phase, closed.kind) == (.connect, .unreachable))
        #expect(!journey.far.log.contains("Connection from"))
      }
    }

    @Test func whatIsWrongBehindAHopIsSaidOfTheHost() async throws {
      try await withJourney { journey in
        try journey.addHost("closed", journey.far, ["ProxyJump first", "Port \(try freePort())"])
        let connector = try journey.connector("closed")
        let closed = try await sshError { _ = try await connector.connect() }
        #expect((closed.phase, closed.kind) == (.connect, .unreachable))
        #expect(closed.message.contains("The hop first makes no connection to 127.0.0.1"))
        try journey.addHost(
          "refused", journey.far, ["ProxyJump first", "PubkeyAuthentication no"])
        let stranger = try journey.connector("refused")
        let refused = try await sshError { _ = try await stranger.connect() }
        #expect(refused.kind == .authenticationRefused)
        #expect(!refused.message.contains("hop"))
        try await waitUntil("no connection left") { try journey.connectionsAreGone() }
      }
    }

    @Test func aHopThatForbidsForwardingIsNamed() async throws {
      try await withJourney(firstServer: ["AllowTcpForwarding no"]) { journey in
        let connector = try journey.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect((error.phase, error.kind) == (.connect, .refused))
        #expect(error.message.contains("first"))
        #expect(error.advice?.contains("AllowTcpForwarding") == true)
        try await waitUntil("no connection left") { try journey.connectionsAreGone() }
      }
    }

    /// What libssh2 cannot do for a hop, the ssh program does for the whole way.
    @Test func aHopThatOnlySSHCanReachIsLeftToSSH() async throws {
      try await withJourney { journey in
        try journey.addHost("special", journey.first, ["KnownHostsCommand /bin/true"])
        try journey.addHost("behind", journey.far, ["ProxyJump special"])
        let notices = Locked<[String]>([])
        let transport = try await SSHConnector(
          host: "behind",
          options: ConnectionOptions(
            configurationFile: journey.configuration,
            onNotice: { notice in notices.withLock { $0.append(notice) } })
        ).connect()
        #expect(try await transport.run("exit 3").exit == .code(3))
        #expect(notices.withLock { $0.count } == 1)
        #expect(notices.withLock { $0.first?.contains("KnownHostsCommand") } == true)
        await transport.close()
      }
    }

    @Test func aHopThatDiesEndsTheConnectionByName() async throws {
      try await withJourney { journey in
        let transport = try await journey.connector().connect()
        let process = try await transport.execute("echo begun; sleep 100")
        try await process.readLines(1)
        for pid in try journey.first.connections() { kill(pid, SIGKILL) }
        let error = try await within(.seconds(10), "noticing") {
          try await sshError { _ = try await process.read() }
        }
        #expect(error.kind == .unreachable)
        #expect(error.message.contains("at the hop first: "))
        #expect(await process.exit() == .unknown)
        try await waitUntil("no connection left") { try journey.connectionsAreGone() }
        await transport.close()
      }
    }

    /// The host takes no more bytes, the hop holds as many as it may: then nobody but the socket's
    /// hang-up tells it that the connection above has ended.
    @Test func aWayThatIsFullIsLetGoOfAllTheSame() async throws {
      try await withJourney { journey in
        let transport = try await journey.connector().connect()
        let process = try await transport.execute("cat >/dev/null")
        for pid in try journey.far.connections() { kill(pid, SIGSTOP) }
        let writing = Task { try await process.write([UInt8](repeating: 7, count: 64 << 20)) }
        try await Task.sleep(for: .seconds(1))
        await transport.close()
        _ = try await sshError { try await writing.value }
        try await waitUntil("the end of both hops") {
          try journey.first.connections().isEmpty && journey.second.connections().isEmpty
        }
        for pid in try journey.far.connections() { kill(pid, SIGKILL) }
      }
    }

    @Test func hopsThatLeadInACircleAreNoEndlessWay() async throws {
      try await withJourney { journey in
        try journey.addHost("east", journey.first, ["ProxyJump west"])
        try journey.addHost("west", journey.second, ["ProxyJump east"])
        let connector = try journey.connector("east")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .badConfiguration)
        #expect(error.host == "east")
        #expect(error.message.contains("east, then west, then east"))
        // A host that is its own hop. (`Host *` with a ProxyJump is what makes one.)
        try journey.addHost("self", journey.first, ["ProxyJump self"])
        let own = try journey.connector("self")
        #expect(try await sshError { _ = try await own.connect() }.kind == .badConfiguration)
      }
    }

    /// More at once than there are handshake slots, each in need of two.
    @Test func manyAtOnceDoNotWaitForEachOther() async throws {
      try await withJourney { journey in
        let connector = try journey.connector()
        try await within(.seconds(60), "twelve connections") {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
              group.addTask {
                let transport = try await connector.connect()
                #expect(try await transport.run("exit \(number)").exit == .code(number))
                await transport.close()
              }
            }
            try await group.waitForAll()
          }
        }
      }
    }

    @Test func cancellingAtAHopEndsItAtOnce() async throws {
      let plain = try PlainServer(.silent)
      try await withJourney { journey in
        try journey.first.addHost("silent", port: plain.port)
        try journey.addHost("behind", journey.far, ["ProxyJump silent"])
        let connector = try journey.connector("behind")
        let connecting = Task { try await connector.connect() }
        try await waitUntil("the hop's client") { plain.clients > 0 }
        let start = ContinuousClock.now
        connecting.cancel()
        let error = try await sshError { _ = try await connecting.value }
        #expect(error.kind == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(9))
        try await waitUntil("the client hanging up") { plain.hangUps > 0 }
      }
    }
  }
}
