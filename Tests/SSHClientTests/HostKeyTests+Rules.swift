import SSHClient
import TestSupport
import Testing

extension SSHClientTests.HostKeyTests {
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
