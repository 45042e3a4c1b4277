import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  @Suite struct HostKeyTests {
    /// A server of which the client knows nothing yet.
    func withUnknownServer<Result: Sendable>(
      _ clientConfiguration: [String], isolation: isolated (any Actor)? = #isolation,
      _ body: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
      var options = LoopbackServer.Options()
      options.clientConfiguration = clientConfiguration
      return try await withLoopbackServer(options) { server in
        try writeFile(server.knownHostsFile, [])
        return try await body(server)
      }
    }

    private func fingerprint(_ server: LoopbackServer, _ type: String = "ed25519") async throws
      -> String
    {
      let line = try await Command(
        "ssh-keygen", ["-l", "-f", server.folder["host_\(type).pub"]]
      ).succeed()
      return String(line.split(separator: " ")[1])
    }

    @Test func anUnknownKeyIsRefusedWithItsFingerprintAndNoKeyIsOffered() async throws {
      try await withUnknownServer(["StrictHostKeyChecking ask"]) { server in
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyUnknown)
        #expect(error.message.contains(try await fingerprint(server)))
        #expect(error.advice?.contains("ssh -F") == true)
        #expect(!server.log.contains("publickey"))
        #expect(try readText(server.knownHostsFile).isEmpty)
      }
    }

    @Test(arguments: ["HashKnownHosts no", "HashKnownHosts yes"])
    func aConfirmedKeyIsRecordedWhereSSHFindsIt(hashing: String) async throws {
      try await withUnknownServer(["StrictHostKeyChecking ask", hashing]) { server in
        // A last line without an end must not swallow ours.
        try writeFile(server.knownHostsFile, Array("# no end of line".utf8))
        let questions = Locked<[HostKeyQuestion]>([])
        let transport = try await server.connector(ask: { question in
          questions.withLock { $0.append(question) }
          return true
        }).connect()
        await transport.close()
        let asked = questions.withLock { $0 }
        #expect(asked.count == 1)
        #expect(asked.first?.fingerprint == (try await fingerprint(server)))
        #expect(asked.first?.keyType == "ED25519")
        let text = try readText(server.knownHostsFile)
        #expect(text.contains("127.0.0.1") == (hashing == "HashKnownHosts no"))
        // The system's ssh is content with the line, and so are we the next time.
        try await server.ssh("true", arguments: ["-o", "StrictHostKeyChecking=yes"]).succeed()
        let again = try await server.connector().connect()
        await again.close()
      }
    }

    @Test func aKeyThatIsNotConfirmedIsNotRecorded() async throws {
      try await withUnknownServer(["StrictHostKeyChecking ask"]) { server in
        let connector = try server.connector(ask: { _ in false })
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyUnknown)
        #expect(try readText(server.knownHostsFile).isEmpty)
      }
    }

    @Test func acceptNewRecordsWithoutAsking() async throws {
      try await withUnknownServer(["StrictHostKeyChecking accept-new"]) { server in
        let transport = try await server.connector().connect()
        await transport.close()
        #expect(try readText(server.knownHostsFile).contains("[127.0.0.1]:\(server.port) "))
      }
    }

    @Test func strictCheckingDoesNotAsk() async throws {
      try await withUnknownServer(["StrictHostKeyChecking yes"]) { server in
        let connector = try server.connector(ask: { _ in true })
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyUnknown)
      }
    }

    /// Even where nothing is strict: another key of the same type is known.
    @Test(arguments: ["yes", "accept-new", "no"])
    func aChangedKeyIsRefusedWithBothFingerprints(strictness: String) async throws {
      try await withUnknownServer(["StrictHostKeyChecking \(strictness)"]) { server in
        let other = server.folder["other"]
        try await LoopbackServer.makeKey("ed25519", other)
        let key = try readText(other + ".pub")
        try writeFile(
          server.knownHostsFile, Array("[127.0.0.1]:\(server.port) \(key)".utf8))
        let connector = try server.connector(acceptNewHostKeys: true, ask: { _ in true })
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyChanged)
        #expect(error.message.contains(try await fingerprint(server)))
        let known = try await Command("ssh-keygen", ["-l", "-f", other + ".pub"]).succeed()
        #expect(error.message.contains(known.split(separator: " ")[1]))
        #expect(error.advice?.contains("ssh-keygen -R '[127.0.0.1]:\(server.port)'") == true)
        #expect(!server.log.contains("publickey"))
      }
    }

    @Test func aRevokedKeyIsRefusedAlthoughAPlainLineKnowsIt() async throws {
      try await withLoopbackServer { server in
        let key = try readText(server.folder["host_ed25519.pub"])
        try appendToFile(server.knownHostsFile, Array("@revoked * \(key)".utf8))
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyChanged)
        #expect(error.message.contains("revoked"))
        #expect(!server.log.contains("publickey"))
      }
    }

    /// libssh2 would ask for an ECDSA key first, and that one is not recorded.
    @Test func theServerIsAskedForTheTypeOfKeyThatIsKnown() async throws {
      var options = LoopbackServer.Options()
      options.hostKeyTypes = ["ecdsa", "ed25519"]
      for type in options.hostKeyTypes {
        try await withLoopbackServer(options) { server in
          let key = try readText(server.folder["host_\(type).pub"])
          try writeFile(
            server.knownHostsFile, Array("[127.0.0.1]:\(server.port) \(key)".utf8))
          let transport = try await server.connector().connect()
          await transport.close()
        }
      }
    }

    /// A man in the middle may simply not have the type that is known.
    @Test func aKeyOfAnotherTypeThanTheKnownIsNotAcceptedAsNew() async throws {
      var options = LoopbackServer.Options()
      options.clientConfiguration = ["StrictHostKeyChecking accept-new"]
      try await withLoopbackServer(options) { server in
        let other = server.folder["other"]
        try await LoopbackServer.makeKey("ecdsa", other)
        let key = try readText(other + ".pub")
        try writeFile(server.knownHostsFile, Array("[127.0.0.1]:\(server.port) \(key)".utf8))
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyUnknown)
        #expect(error.message.contains("ecdsa-sha2-nistp256"))
      }
    }
  }
}
