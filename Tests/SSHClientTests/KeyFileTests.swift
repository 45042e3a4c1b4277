import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import SSHClient

extension SSHClientTests {
  /// Every kind of key file that `ssh-keygen` writes, against one sshd.
  @Suite struct KeyFileTests {
    static let passphrase = "four secret words here"

    /// One file: the key's type, how `ssh-keygen -p` writes it, and who asks for what.
    struct Case: CustomStringConvertible {
      var type: String
      var form: [String]
      var isEncrypted: Bool
      /// Without its public half beside it, which an encrypted PEM file does not tell either.
      var isAlone = false

      var description: String { "\(type) \(form.joined(separator: " "))" }
    }

    static var cases: [Case] {
      var cases: [Case] = []
      for type in ["ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521", "rsa-2048", "rsa-4096"] {
        cases.append(Case(type: type, form: [], isEncrypted: false))
      }
      for type in ["ecdsa-256", "ecdsa-521", "rsa-2048"] {
        for format in ["PEM", "PKCS8"] {
          cases.append(Case(type: type, form: ["-m", format], isEncrypted: false))
          cases.append(Case(type: type, form: ["-m", format], isEncrypted: true))
        }
      }
      for type in ["ed25519", "ecdsa-384", "rsa-2048"] {
        cases.append(Case(type: type, form: ["-Z", "aes256-ctr"], isEncrypted: true))
      }
      for cipher in [
        "3des-cbc", "aes128-cbc", "aes192-cbc", "aes256-cbc", "aes128-ctr", "aes192-ctr",
        "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
      ] {
        cases.append(Case(type: "ed25519", form: ["-Z", cipher], isEncrypted: true))
      }
      cases.append(Case(type: "rsa-2048", form: ["-m", "PEM"], isEncrypted: true, isAlone: true))
      cases.append(
        Case(type: "ecdsa-521", form: ["-m", "PKCS8"], isEncrypted: true, isAlone: true))
      // What `ssh-keygen` makes the key's key of where it is not told.
      cases.append(Case(type: "ed25519", form: ["-a", "16"], isEncrypted: true))
      return cases
    }

    @Test func everyKindOfFileLetsIn() async throws {
      try await withLoopbackServer { server in
        try writeFile(server.authorizedKeysFile, [])
        var types: Set<String> = []
        for (number, each) in Self.cases.enumerated() {
          if types.insert(each.type).inserted { try await makeAuthorizedKey(each.type, server) }
          let path = server.folder["case\(number)"]
          for suffix in ["", ".pub"] {
            let content = try readText(server.folder[each.type] + suffix)
            try writeFile(path + suffix, Array(content.utf8), mode: 0o600)
          }
          if !each.form.isEmpty {
            try await Command(
              "ssh-keygen",
              ["-q", "-p", "-a", "1", "-P", "", "-N", each.isEncrypted ? Self.passphrase : ""]
                + each.form + ["-f", path]
            ).succeed()
          }
          if each.isAlone { #expect(unlink(path + ".pub") == 0) }
          try server.addHost(
            "case\(number)", port: server.port, configuration: ["IdentityFile \(path)"])
          let answers = Answers("wrong words", Self.passphrase)
          let refusal = try await server.refusal("case\(number)", answers)
          let asked = answers.asked.map(\.prompt)
          #expect(refusal == nil, "\(each)")
          let first = "Enter passphrase for key '\(path)':"
          let second = "Wrong passphrase, try again for key '\(path)':"
          #expect(asked == (each.isEncrypted ? [first, second] : []), "\(each)")
        }
        #expect(server.log.split(separator: "\n").contains { $0.contains("Accepted publickey") })
      }
    }

    private func makeAuthorizedKey(_ type: String, _ server: LoopbackServer) async throws {
      let parts = type.split(separator: "-").map(String.init)
      let bits = parts.count > 1 ? ["-b", parts[1]] : []
      let path = server.folder[type]
      try await Command(
        "ssh-keygen", ["-q", "-t", parts[0]] + bits + ["-N", "", "-C", type, "-f", path]
      ).succeed()
      try appendToFile(server.authorizedKeysFile, Array(readText(path + ".pub").utf8))
    }
  }
}
