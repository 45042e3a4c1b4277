import TestSupport
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@testable import SSHClient

extension SSHClientTests {
  /// Which keys are offered, in which order, and what is said of those that are not.
  @Suite struct KeyOrderTests {
    @Test func keysAreOrderedAsOpenSSHOrdersThem() throws {
      let folder = try TemporaryFolder("order")
      let client = AgentClient(path: folder["agent"], host: "x")
      func blob(_ name: String) -> [UInt8] {
        var blob: [UInt8] = []
        blob.appendField([UInt8]("ssh-ed25519".utf8))
        blob.appendField([UInt8](name.utf8))
        return blob
      }
      func certificate(_ name: String) throws -> NamedCertificate {
        var bytes: [UInt8] = []
        for field in ["ssh-ed25519-cert-v01@openssh.com", "nonce", name] {
          bytes.appendField([UInt8](field.utf8))
        }
        bytes += [UInt8](repeating: 0, count: 8) + [0, 0, 0, 1]
        for field in ["id", "root"] { bytes.appendField([UInt8](field.utf8)) }
        bytes += [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0xFF, count: 8)
        return NamedCertificate(
          path: "\(name)-cert", certificate: try #require(Certificate(blob: bytes)))
      }
      func file(_ name: String, certified: Bool = false) throws -> IdentityFile {
        let content = Array("-----BEGIN OPENSSH PRIVATE KEY-----\n".utf8)
        return IdentityFile(
          path: name, key: PrivateKeyFile(path: name, content: content), publicKey: blob(name),
          certificate: certified ? try certificate(name) : nil)
      }
      func agentKey(_ name: String) -> AgentClient.Identity {
        AgentClient.Identity(blob: blob(name), comment: name)
      }
      let files = [
        try file("one"), try file("two", certified: true), try file("three"),
        try file("four", certified: true),
      ]
      let identities = [agentKey("other"), agentKey("three"), agentKey("two")]
      func order(onlyNamed: Bool) throws -> [String] {
        KeyCandidate.ordered(
          files, [try certificate("one")], agent: (client, identities), onlyNamed: onlyNamed
        ).map(\.name)
      }
      let named = ["one-cert", "two-cert", "two (agent)", "three (agent)"]
      let last = ["one", "two", "three", "four-cert", "four"].filter {
        !["two", "three"].contains($0)
      }
      #expect(try order(onlyNamed: true) == named + last)
      #expect(try order(onlyNamed: false) == named + ["other (agent)"] + last)
    }

    @Test func whatIsNotOfferedIsNamed() async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["LogLevel DEBUG", "GSSAPIAuthentication yes"]
      try await withLoopbackServer(options) { server in
        // Straight to the key: no round trip to ask what the server takes.
        #expect(try await server.refusal(server.alias) == nil)
        #expect(!server.log.contains("method none"))

        try writeFile(server.authorizedKeysFile, [])
        let lines = ["PubkeyAcceptedAlgorithms ecdsa-sha2-nistp256", "GSSAPIAuthentication yes"]
        let other = try await refusal(server, lines + ["IdentityFile \(server.folder["none"])"])
        let advice = other?.advice ?? ""
        #expect(advice.contains("PubkeyAcceptedAlgorithms does not name ssh-ed25519"))
        #expect(advice.contains("\(server.folder["none"]) cannot be read: No such file"))
        #expect(other?.beyondLibSSH2 == "authentication by gssapi-with-mic")
        let plain = try await refusal(server, ["GSSAPIAuthentication no"])
        #expect(plain?.kind == .authenticationRefused && plain?.beyondLibSSH2 == nil)

        try server.folder.write("text", "no key at all\n")
        let text = try await refusal(server, ["IdentityFile \(server.folder["text"])"])
        #expect(text?.advice?.contains("is no private key that can be read") == true)
      }
    }

    /// No security key is at hand; libssh2 sees no more of one than its public half.
    @Test func aSecurityKeyIsLeftToSSHOnlyWhereTheServerWouldTakeIt() async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["PasswordAuthentication yes"]
      try await withLoopbackServer(options) { server in
        let path = server.folder["sk"]
        var blob: [UInt8] = []
        blob.appendField([UInt8]("sk-ssh-ed25519@openssh.com".utf8))
        blob.appendField([UInt8](repeating: 7, count: 32))
        blob.appendField([UInt8]("ssh:".utf8))
        var body = [UInt8]("openssh-key-v1\0".utf8)
        for field in ["none", "none", ""] { body.appendField([UInt8](field.utf8)) }
        body.appendNumber(1)
        body.appendField(blob)
        body.appendField([])
        try server.folder.write(
          "sk",
          "-----BEGIN OPENSSH PRIVATE KEY-----\n\(Data(body).base64EncodedString())\n-----END OPENSSH PRIVATE KEY-----\n",
          mode: 0o600)
        let lines = ["IdentityFile \(path)", "NumberOfPasswordPrompts 1"]
        try writeFile(server.authorizedKeysFile, [])
        let unknown = try await refusal(server, lines)
        #expect(unknown?.beyondLibSSH2 == nil)
        #expect(unknown?.message.contains("it refused \(path)") == true)

        let line = "sk-ssh-ed25519@openssh.com \(Data(blob).base64EncodedString())\n"
        try writeFile(server.authorizedKeysFile, Array(line.utf8))
        let answers = Answers("no")
        let welcome = try await refusal(server, lines, answers, engine: .auto)
        #expect(welcome?.beyondLibSSH2 == "security keys")
        #expect(answers.asked.isEmpty, "ssh gets in without a password")
        _ = try await refusal(server, lines, answers)
        #expect(answers.asked.count == 1, "there is no ssh to go on")
      }
    }

    private func refusal(
      _ server: LoopbackServer, _ lines: [String], _ answers: Answers? = nil,
      engine: EngineChoice = .libssh2
    ) async throws -> SSHError? {
      try writeFile(server.sshConfiguration, [])
      try server.addHost("x", port: server.port, configuration: lines)
      do throws(SSHError) {
        let transport = try await LibSSH2Engine(
          host: try HostName("x"),
          options: ConnectionOptions(
            engine: engine, configurationFile: server.sshConfiguration,
            questions: answers?.questions)
        ).connect()
        await transport.close()
        return nil
      } catch {
        return error
      }
    }
  }
}
