import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  @Suite struct HostKeyTests {
    /// A server of which the client knows nothing yet.
    private func withUnknownServer<Result: Sendable>(
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

    /// Whether the line is enough to connect, asked of us and of the system's ssh.
    @Test func knownHostsMeansTheSameToUsAndToSSH() async throws {
      try await withLoopbackServer { server in
        let port = server.port
        let key = try readText(server.folder["host_ed25519.pub"])
        try await LoopbackServer.makeKey("ed25519", server.folder["other"])
        try await LoopbackServer.makeKey("ecdsa", server.folder["ecdsa"])
        let other = try readText(server.folder["other.pub"])
        let ecdsa = try readText(server.folder["ecdsa.pub"])
        let host = "[127.0.0.1]:\(port)"
        let cases: [(name: String, text: String, kind: SSHError.Kind?)] = [
          ("plain", "\(host) \(key)", nil), ("crlf", "\(host) \(key.dropLast())\r\n", nil),
          ("pattern", "[127.0.*]:*,!x \(key)", nil), ("bare", "127.0.0.1 \(key)", nil),
          ("both", "\(host) \(other)\(host) \(key)", nil), ("empty", "", .hostKeyUnknown),
          ("garbage", "\(host) ssh-ed25519 AAAA\n\(host) odd \(key)", .hostKeyUnknown),
          ("elsewhere", "[127.0.0.1]:1 \(key)", .hostKeyUnknown),
          ("negated", "*,!\(host),!127.0.0.1 \(key)", .hostKeyUnknown),
          ("type", "\(host) \(ecdsa)", .hostKeyUnknown),
          ("authority", "@cert-authority \(host) \(key)", .hostKeyUnknown),
          ("changed", "\(host) \(other)", .hostKeyChanged),
          ("bare changed", "127.0.0.1 \(other)", .hostKeyUnknown),
          ("revoked", "\(host) \(key)@revoked * \(key)", .hostKeyChanged),
        ]
        for (name, text, kind) in cases {
          let known = try server.folder.write("known", text)
          let alias = "h\(name.filter { $0 != " " })"
          try server.addHost(alias, port: port, configuration: ["UserKnownHostsFile \(known)"])
          let theirs = try await Command(
            "ssh", ["-F", server.sshConfiguration, "-o", "BatchMode=yes", alias, "true"]
          ).run()
          #expect((theirs.code == 0) == (kind == nil), "\(name): \(theirs.errorText)")
          let connector = try server.connector(alias)
          if let kind {
            let error = try await sshError { _ = try await connector.connect() }
            #expect(error.kind == kind, "\(name): \(error)")
          } else {
            await (try await connector.connect()).close()
          }
        }
      }
    }

    /// sshd says at the end of a connection whether a user was being authenticated.
    @Test func noAuthenticationBeginsWithAKeyThatIsNotTheHosts() async throws {
      try await withUnknownServer(["StrictHostKeyChecking ask"]) { server in
        let key = try readText(server.folder["host_ed25519.pub"])
        try await LoopbackServer.makeKey("ed25519", server.folder["other"])
        let other = try readText(server.folder["other.pub"])
        let host = "[127.0.0.1]:\(server.port)"
        for text in ["", "\(host) \(other)", "@revoked * \(key)"] {
          try writeFile(server.knownHostsFile, Array(text.utf8))
          let connector = try server.connector()
          let error = try await sshError { _ = try await connector.connect() }
          #expect(error.phase == .hostKey)
          #expect(!error.isWorthRetrying)
        }
        try await waitUntil("sshd's last words") {
          // sshd ends its lines with CR and LF.
          server.log.split(whereSeparator: \.isNewline)
            .count(where: { $0.hasPrefix("Disconnected from 127.0.0.1") }) == 3
        }
        #expect(!server.log.contains("authenticating user"))
        // The check can fail: a key that is refused is begun with.
        try writeFile(server.knownHostsFile, Array("\(host) \(key)".utf8))
        try writeFile(server.authorizedKeysFile, [])
        let connector = try server.connector()
        _ = try await sshError { _ = try await connector.connect() }
        try await waitUntil("sshd's word for it") { server.log.contains("authenticating user") }
      }
    }

    @Test func aHostCertificateIsNamedAsBeyondLibSSH2() async throws {
      var options = LoopbackServer.Options()
      options.clientConfiguration = ["StrictHostKeyChecking ask"]
      try await withLoopbackServer(options) { server in
        let (authority, key) = (server.folder["authority"], server.folder["host_ed25519"])
        try await LoopbackServer.makeKey("ed25519", authority)
        try await Command(
          "ssh-keygen", ["-q", "-s", authority, "-I", "h", "-h", "-n", "127.0.0.1", key + ".pub"]
        ).succeed()
        let line = "@cert-authority [127.0.0.1]:* \(try readText(authority + ".pub"))"
        try writeFile(server.knownHostsFile, Array(line.utf8))
        let connector = try server.connector()
        // A host without a certificate: ssh could not go on either.
        let without = try await sshError { _ = try await connector.connect() }
        #expect(without.kind == .hostKeyUnknown && without.beyondLibSSH2 == nil)
        try await server.stopListening()
        try appendToFile(
          server.folder["sshd_config"], Array("HostCertificate \(key)-cert.pub\n".utf8))
        try await server.startListening()
        let unknown = try await sshError { _ = try await connector.connect() }
        #expect(unknown.kind == .hostKeyUnknown)
        #expect(unknown.beyondLibSSH2 == "host certificates")
        #expect(unknown.message.contains("@cert-authority"))
        try await server.ssh("true").succeed()
        // Where the plain key is known, nothing is beyond anyone.
        try appendToFile(
          server.knownHostsFile,
          Array("[127.0.0.1]:\(server.port) \(try readText(key + ".pub"))".utf8))
        await (try await connector.connect()).close()
      }
    }

    @Test func revokedHostKeysAreHonoured() async throws {
      try await withLoopbackServer { server in
        let key = try readText(server.folder["host_ed25519.pub"])
        let list = server.folder["revoked list"]
        try server.addHost(
          "listed", port: server.port, configuration: ["RevokedHostKeys \"\(list)\""])
        let connector = try server.connector("listed")
        let missing = try await sshError { _ = try await connector.connect() }
        #expect(missing.phase == .hostKey && missing.kind == .badConfiguration)
        #expect(missing.message.contains(list))
        try await LoopbackServer.makeKey("ed25519", server.folder["other"])
        try writeFile(
          list, Array("# comment\n\n\(try readText(server.folder["other.pub"]))odd\n".utf8))
        await (try await connector.connect()).close()
        try appendToFile(list, Array("  \(key)".utf8))
        let revoked = try await sshError { _ = try await connector.connect() }
        #expect(revoked.kind == .hostKeyChanged)
        #expect(revoked.message.contains("\(list):5"))
        try await Command(
          "ssh-keygen", ["-q", "-k", "-f", list, server.folder["other.pub"]]
        ).succeed()
        let binary = try await sshError { _ = try await connector.connect() }
        #expect(binary.beyondLibSSH2 == "a key revocation list")
      }
    }

    /// As with ssh: the key is confirmed, the record alone fails.
    @Test func aKeyThatCannotBeRecordedIsToldAndNoObstacle() async throws {
      try await withLoopbackServer { server in
        let path = server.folder["no-folder"] + "/known"
        try server.addHost(
          "fresh", port: server.port,
          configuration: ["UserKnownHostsFile \(path)", "StrictHostKeyChecking accept-new"])
        let notices = Locked<[String]>([])
        let connector = try SSHConnector(
          host: "fresh",
          options: ConnectionOptions(
            engine: .libssh2, configurationFile: server.sshConfiguration,
            onNotice: { notice in notices.withLock { $0.append(notice) } }))
        await (try await connector.connect()).close()
        #expect(notices.withLock { $0.count } == 1)
        #expect(notices.withLock { $0.first?.contains(path) } == true)
        #expect(!fileExists(server.folder["no-folder"]))
      }
    }
  }
}
