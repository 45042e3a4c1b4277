import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  @Suite struct AuthenticationTests {
    @Test(arguments: ["ed25519", "ecdsa", "rsa"])
    func anUnencryptedKeyFileLetsIn(type: String) async throws {
      var options = LoopbackServer.Options()
      options.clientKeyType = type
      try await withConnection(options) { transport, _ in
        let last = try await transport.run("exit 3")
        #expect(last.exit == .code(3))
      }
    }

    @Test(arguments: ["ed25519", "ecdsa", "rsa"])
    func aKeyThatOnlyTheAgentHasLetsIn(type: String) async throws {
      var options = LoopbackServer.Options()
      options.clientKeyType = type
      try await withLoopbackServer(options) { server in
        let agent = try await Agent.start(in: server.folder)
        try await agent.add(server.identityFile)
        #expect(unlink(server.identityFile) == 0)
        // With IdentitiesOnly, the file's public half says which of the agent's keys is meant.
        try server.addHost(
          "agent", port: server.port, configuration: ["IdentityAgent \(agent.socket)"])
        let transport = try await server.connector("agent").connect()
        await transport.close()
        #expect(server.log.contains("Accepted publickey"))
        await agent.stop()
      }
    }

    @Test func anEncryptedKeyOfTheAgentLetsIn() async throws {
      try await withLoopbackServer { server in
        let agent = try await Agent.start(in: server.folder)
        try await agent.add(server.identityFile)
        try await Command(
          "ssh-keygen", ["-q", "-p", "-N", "secret words", "-f", server.identityFile]
        ).succeed()
        try server.addHost(
          "agent", port: server.port, configuration: ["IdentityAgent \(agent.socket)"])
        let transport = try await server.connector("agent").connect()
        await transport.close()
        await agent.stop()
      }
    }

    @Test func anEncryptedKeyFileSaysHowToUseIt() async throws {
      try await withLoopbackServer { server in
        try await Command(
          "ssh-keygen", ["-q", "-p", "-N", "secret words", "-f", server.identityFile]
        ).succeed()
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.phase == .authentication)
        #expect(error.kind == .authenticationRefused)
        #expect(error.advice?.contains("ssh-add \(server.identityFile)") == true)
      }
    }

    @Test func aKeyThatTheServerDoesNotKnowIsRefused() async throws {
      try await withLoopbackServer { server in
        try writeFile(server.authorizedKeysFile, [])
        let connector = try server.connector()
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .authenticationRefused)
        #expect(!error.isWorthRetrying)
        #expect(error.message.contains(server.identityFile))
        #expect(error.message.contains("publickey"))
      }
    }

    @Test func aMissingAgentIsNoReasonNotToTryTheFiles() async throws {
      try await withLoopbackServer { server in
        try server.addHost(
          "agent", port: server.port, configuration: ["IdentityAgent \(server.folder["none"])"])
        let transport = try await server.connector("agent").connect()
        await transport.close()
      }
    }

    @Test func tooManyKeysEndWithAdvice() async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["MaxAuthTries 2"]
      try await withLoopbackServer(options) { server in
        let agent = try await Agent.start(in: server.folder)
        for index in 0..<4 {
          let path = server.folder["wrong\(index)"]
          try await LoopbackServer.makeKey("ed25519", path)
          try await agent.add(path)
        }
        try server.addHost(
          "agent", port: server.port,
          configuration: ["IdentityAgent \(agent.socket)", "IdentitiesOnly no"])
        let connector = try server.connector("agent")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.phase == .authentication)
        #expect(error.kind == .authenticationRefused)
        #expect(error.message.contains("Too many authentication failures"))
        #expect(error.advice?.contains("IdentitiesOnly") == true)
        await agent.stop()
      }
    }
  }
}
