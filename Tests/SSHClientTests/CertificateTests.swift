import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import SSHClient

extension SSHClientTests {
  /// Certificates for users' keys, by file and by agent; no plain key is authorized here.
  @Suite struct CertificateTests {
    static let isOld = LibSSH2Abilities.here.version == .v1_10
    /// Types, and what libssh2 1.10 calls them where it cannot use them.
    static let types = [
      ("ecdsa", nil), ("ed25519", "an Ed25519 certificate"), ("rsa", "an RSA certificate"),
    ]

    @Test func aCertificateLetsInOrIsNamedAsBeyond() async throws {
      try await withCertificates { world in
        try await Agent.with(world.server.folder) { agent in
          for (type, beyond) in Self.types {
            let path = try await world.makeKey(type, type)
            try await world.certify(path)
            try await agent.removeAll()
            try await agent.add(path)
            let beside = try await world.refusal("beside", ["IdentityFile \(path)"])
            let byAgent = try await world.refusal(
              "agent", ["IdentityAgent \(agent.socket)", "IdentitiesOnly no"])
            #expect(rename(path + "-cert.pub", path + ".cert") == 0)
            let lines = ["IdentityFile \(path)", "CertificateFile \(path).cert"]
            let named = try await world.refusal("named", lines)
            #expect(unlink(path) == 0)
            let split = try await world.refusal(
              "split", lines + ["IdentityAgent \(agent.socket)"])
            for (way, refusal) in [
              ("beside", beside), ("named", named), ("agent", byAgent), ("split", split),
            ] {
              if Self.isOld, let beyond {
                #expect(refusal?.beyondLibSSH2 == beyond, "\(type) \(way): \(refusal as Any)")
              } else {
                #expect(refusal == nil, "\(type) \(way)")
              }
            }
          }
        }
      }
    }

    @Test func aCertificateForAPEMKeyLetsIn() async throws {
      try await withCertificates { world in
        let path = try await world.makeKey("ecdsa", "pem")
        try await world.certify(path)
        try await Command(
          "ssh-keygen", ["-q", "-p", "-N", "some words", "-m", "PEM", "-f", path]
        ).succeed()
        let answers = Answers("some words")
        #expect(try await world.refusal("pem", ["IdentityFile \(path)"], answers) == nil)
        #expect(answers.asked.count == 1)
      }
    }

    @Test func whatIsWrongWithACertificateIsSaid() async throws {
      try await withCertificates { world in
        let path = try await world.makeKey("ecdsa", "old")
        try await world.certify(path, ["-V", "20200101:20200102"])
        let expired = try await world.refusal("expired", ["IdentityFile \(path)"])
        #expect(expired?.kind == .authenticationRefused)
        #expect(
          expired?.message.contains("\(path)-cert.pub (an expired certificate)") == true,
          "\(expired as Any)")
        try await world.certify(path, ["-h"])
        let forHost = try await world.refusal("host", ["CertificateFile \(path)-cert.pub"])
        #expect(
          forHost?.advice?.contains("\(path)-cert.pub is no certificate for a user's key") == true)
        try await world.certify(path)
        let alone = try await world.refusal("alone", ["CertificateFile \(path)-cert.pub"])
        #expect(
          alone?.advice?.contains("the key of the certificate \(path)-cert.pub is not at hand")
            == true)
      }
    }

    struct World {
      let server: LoopbackServer

      func makeKey(_ type: String, _ name: String) async throws -> String {
        let path = server.folder[name]
        try await LoopbackServer.makeKey(type, path)
        return path
      }

      func certify(_ path: String, _ options: [String] = []) async throws {
        try await Command(
          "ssh-keygen",
          ["-q", "-s", server.folder["ca"], "-I", "test", "-n", server.user] + options
            + [path + ".pub"]
        ).succeed()
      }

      func refusal(
        _ alias: String, _ lines: [String], _ answers: Answers? = nil
      ) async throws -> SSHError? {
        try writeFile(server.sshConfiguration, [])
        try server.addHost(alias, port: server.port, configuration: lines)
        return try await server.refusal(alias, answers)
      }
    }

    private func withCertificates(_ body: (World) async throws -> Void) async throws {
      let folder = try TemporaryFolder("ca")
      try await LoopbackServer.makeKey("ed25519", folder["ca"])
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["TrustedUserCAKeys \(folder["ca.pub"])"]
      try await withLoopbackServer(options) { server in
        try writeFile(server.authorizedKeysFile, [])
        for suffix in ["", ".pub"] {
          try writeFile(server.folder["ca"] + suffix, readFile(folder["ca"] + suffix))
        }
        try await body(World(server: server))
      }
    }
  }
}
