import TestSupport
import Testing

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
      /// What libssh2 cannot do, where it cannot.
      var beyond: String?

      var description: String { "\(type) \(form.joined(separator: " "))" }
    }

    static var cases: [Case] {
      let isOld = LibSSH2Abilities.here.version == .v1_10
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
      for cipher in ["aes256-ctr", "aes128-cbc", "aes256-gcm@openssh.com"] {
        for type in ["ed25519", "ecdsa-256", "rsa-2048"] {
          let isBeyond = isOld && (type == "rsa-2048" || cipher.contains("gcm"))
          cases.append(
            Case(
              type: type, form: ["-Z", cipher], isEncrypted: true,
              beyond: !isBeyond
                ? nil
                : cipher.contains("gcm")
                  ? "a key encrypted with \(cipher)" : "an RSA key encrypted in OpenSSH's format"))
        }
      }
      if LibSSH2Abilities.here.version != .later {
        let cipher = "chacha20-poly1305@openssh.com"
        cases.append(
          Case(
            type: "ed25519", form: ["-Z", cipher], isEncrypted: true,
            beyond: "a key encrypted with \(cipher)"))
      }
      return cases
    }

    @Test func everyKindOfFileLetsInOrSaysWhatToDo() async throws {
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
          try server.addHost(
            "case\(number)", port: server.port, configuration: ["IdentityFile \(path)"])
          let answers = Answers("wrong words", Self.passphrase)
          let refusal = try await server.refusal("case\(number)", answers)
          let asked = answers.asked.map(\.prompt)
          if let beyond = each.beyond {
            #expect(refusal?.beyondLibSSH2 == beyond, "\(each): \(refusal as Any)")
            #expect(refusal?.kind == .authenticationRefused, "\(each)")
            #expect(refusal?.advice?.contains("ssh-add \(path)") == true, "\(each)")
            #expect(asked.isEmpty, "\(each): in vain")
          } else {
            #expect(refusal == nil, "\(each)")
            let first = "Enter passphrase for key '\(path)':"
            let second = "Wrong passphrase, try again for key '\(path)':"
            #expect(asked == (each.isEncrypted ? [first, second] : []), "\(each)")
          }
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
