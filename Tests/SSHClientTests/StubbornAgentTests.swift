import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct StubbornAgentTests {
    @Test func anAgentsOwnHashIsMetOrItsRefusalNamed() async throws {
      var options = LoopbackServer.Options()
      options.clientKeyType = "rsa"
      try await withLoopbackServer(options) { server in
        let content = try readFile(server.identityFile)
        let file = PrivateKeyFile(path: server.identityFile, content: content)
        guard case .ready(let key) = file.form else { throw DidNotThrow() }
        // The public half alone says which of the agent's keys is meant.
        try writeFile(server.identityFile, readFile(server.identityFile + ".pub"))
        for (algorithm, advice) in [
          ("rsa-sha2-512", nil), ("rsa-sha2-256", nil),
          ("ssh-rsa", "the agent signed by ssh-rsa"), (nil, "it did not sign"),
        ] {
          let agent = try StubbornAgent(server.folder, key, algorithm: algorithm)
          try writeFile(server.sshConfiguration, [])
          try server.addHost(
            "x", port: server.port, configuration: ["IdentityAgent \(agent.path)"])
          let refusal = try await server.refusal("x")
          if let advice {
            #expect(refusal?.advice?.contains(advice) == true, "\(algorithm as Any)")
          } else {
            #expect(refusal == nil, "\(algorithm as Any)")
          }
        }
      }
    }
  }
}
