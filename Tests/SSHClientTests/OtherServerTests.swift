import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  /// What sshd does not do, by a server that is not OpenSSH.
  @Suite struct OtherServerTests {
    @Test func severalPromptsInOneRoundAreAnsweredInOrder() async throws {
      try await AskingServer.with(key: "ed25519") { server in
        let lines = ["PreferredAuthentications keyboard-interactive"]
        let answers = Answers("blue", "42")
        #expect(try await server.refusal(lines, answers) == nil)
        #expect(
          answers.asked.map(\.prompt) == [
            "(me@127.0.0.1) Second step Look at your token Colour:", "(me@127.0.0.1) Code:",
          ])
        #expect(answers.asked.map(\.isVisible) == [true, false])
        let wrong = Answers("red", "42")
        let error = try await server.refusal(lines + ["NumberOfPasswordPrompts 1"], wrong)
        #expect(error?.kind == .authenticationRefused)
        #expect(error?.message.contains("an answer to its question") == true)
      }
    }

    /// libssh2 1.10 signs with SHA-1, which this server takes; 1.11.1 writes behind its memory here.
    @Test func anRSAKeyIsOfferedOnlyWhereThatIsSafe() async throws {
      try await AskingServer.with(key: "rsa") { server in
        let key = server.folder["key"]
        // A file that tells what it is, and one that does not before it is decrypted.
        for isAlone in [false, true] {
          if isAlone {
            try await Command(
              "ssh-keygen", ["-q", "-p", "-N", "some words", "-m", "PEM", "-f", key]
            ).succeed()
            try await Command("rm", [key + ".pub"]).succeed()
          }
          let refusal = try await server.refusal(
            ["IdentityFile \(key)", "PreferredAuthentications publickey"], Answers("some words"))
          if LibSSH2Abilities.here.isRSASafeOnlyWithOpenSSH {
            #expect(refusal?.beyondLibSSH2 == "RSA keys on a server other than OpenSSH")
          } else {
            #expect(refusal == nil)
          }
        }
      }
    }

    @Test func anEd25519KeyIsSafeEverywhere() async throws {
      try await AskingServer.with(key: "ed25519") { server in
        let refusal = try await server.refusal(["IdentityFile \(server.folder["key"])"])
        #expect(refusal == nil)
      }
    }

    @Test(arguments: [
      ("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10", 9, 2, true), ("SSH-2.0-OpenSSH_7.1", 7, 1, false),
      ("SSH-2.0-OpenSSH_10.0", 10, 0, true), ("SSH-2.0-OpenSSH_for_Windows_9.5", 9, 5, true),
    ]) func aBannerTellsOpenSSHsVersion(
      banner: String, major: Int, minor: Int, knowsSHA2: Bool
    ) throws {
      let software = ServerSoftware(banner: banner)
      let version = try #require(software.openSSH)
      #expect(version.major == major)
      #expect(version.minor == minor)
      #expect(software.knowsRSAWithSHA2 == knowsSHA2)
    }

    @Test(arguments: ["SSH-2.0-dropbear_2022.83", "SSH-2.0-Go", ""])
    func othersAreNotTakenForOpenSSH(banner: String) {
      #expect(ServerSoftware(banner: banner).openSSH == nil)
    }
  }
}
