import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct KnownHostsTests {
    private static let ed25519 =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBJ3sNVwEfaTKyKyPUVRfYgb7gvqSrFWZTnOwlmdnCgc"
    private static let other =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPmM4sNVGyTz1UMBjWGwZmQQgiHvhdLtqWGRsO4W6Pgq"

    private func verdict(_ text: String, host: String = "h", port: UInt16 = 22) throws
      -> KnownHosts.Verdict
    {
      var known = KnownHosts()
      known.add(file: "f", Array(text.utf8))
      let line = try #require(
        KnownHostLine(ArraySlice("x \(Self.ed25519)".utf8), file: "f", number: 1))
      return known.judge(
        try #require(line.key), of: KnownHostName(host: host, port: port, alias: nil))
    }

    @Test func linesAreReadAsOpenSSHReadsThem() throws {
      let (key, other) = (Self.ed25519, Self.other)
      #expect(try verdict("h \(key)\n") == .known)
      #expect(try verdict("h \(key) a comment\r\n") == .known)
      #expect(try verdict(" \th\t\(key)") == .known)
      #expect(try verdict("a,b,h,c \(key)\n") == .known)
      #expect(try verdict("H \(key)\n", host: "h") == .known)
      #expect(try verdict("h \(key)\n", host: "H") == .known)
      #expect(try verdict("*.example,!bad.example \(key)\n", host: "a.example") == .known)
      let unknown = KnownHosts.Verdict.unknown(otherTypes: [])
      #expect(try verdict("*.example,!bad.example \(key)\n", host: "bad.example") == unknown)
      #expect(try verdict("# h \(key)\n") == unknown)
      #expect(try verdict("@strange h \(key)\n") == unknown)
      #expect(try verdict("h ssh-rsa \(key.split(separator: " ")[1])\n") == unknown)
      #expect(try verdict("garbage\n\u{0}\u{1}\nh \(key)\n") == .known)
      #expect(try verdict(String(repeating: "x", count: 100_000) + "\nh \(key)\n") == .known)
      #expect(try verdict("[h]:2222 \(key)\n", port: 2222) == .known)
      #expect(try verdict("h \(key)\n", port: 2222) == .known)
      #expect(try verdict("[h]:2222 \(key)\n", port: 22) == unknown)
      #expect(try verdict("@cert-authority h \(key)\n") == unknown)
      #expect(
        try verdict("h ssh-ed25519 \(other.split(separator: " ")[1].dropLast(4))\n") == unknown)
      guard case .changed(_, let place) = try verdict("\nh \(other)\n") else {
        Issue.record("another key of the type is known")
        return
      }
      #expect(place.number == 2)
      #expect(try verdict("h \(other)\nh \(key)\n") == .known)
    }

    @Test func aRevokedKeyIsRevokedWhateverElseIsSaid() throws {
      let key = Self.ed25519
      for text in ["h \(key)\n@revoked h \(key)\n", "@revoked * \(key)\nh \(key)\n"] {
        guard case .revoked = try verdict(text) else {
          Issue.record("not revoked: \(text)")
          continue
        }
      }
      // Stricter than asked: revoked for the bare name, whatever the port.
      guard case .revoked = try verdict("@revoked h \(key)\n[h]:22022 \(key)\n", port: 22022)
      else {
        Issue.record("not revoked on another port")
        return
      }
    }

    /// Each in one write: no line is torn, whoever else writes, and whatever the last line lacks.
    @Test func manyWhoAppendAtOnceKeepEveryLineWhole() async throws {
      let folder = try TemporaryFolder("known_hosts")
      let path = try folder.write("known", "# no end of line")
      let key = try #require(
        KnownHostLine(ArraySlice("x \(Self.ed25519)".utf8), file: "f", number: 1)?.key)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask {
            for round in 0..<25 {
              let result = KnownHostsFile.append(
                key, name: "h\(number)-\(round)", hashed: round % 2 == 0, to: path)
              if case .failure(let error) = result { Issue.record("\(error.words)") }
            }
          }
        }
      }
      var known = KnownHosts()
      known.add(file: path, try readFile(path))
      for number in 0..<8 {
        for round in 0..<25 {
          let name = KnownHostName(host: "h\(number)-\(round)", port: 22, alias: nil)
          #expect(known.judge(key, of: name) == .known)
        }
      }
    }

    /// What is known is of a type that our library cannot ask for: ssh could, so nobody is asked.
    @Test func aKnownKeyThatOnlySSHCanAskForIsNamed() async throws {
      let folder = try TemporaryFolder("known_hosts")
      let file = try folder.write("config", "Host *\n  UserKnownHostsFile none\n")
      let host = try HostName("h")
      let check = HostKeyCheck(
        configuration: try await ConfigurationProgram.configuration(of: host, file: file),
        host: host,
        options: ConnectionOptions(
          questions: Questions(confirmHostKey: { _ in true }, secret: { _ in nil })))
      let key = try #require(
        KnownHostLine(ArraySlice("x \(Self.ed25519)".utf8), file: "f", number: 1)?.key)
      try await LoopbackServer.makeKey("rsa", folder["rsa"])
      var known = KnownHosts()
      known.add(file: "f", Array("h \(try readText(folder["rsa.pub"]))".utf8))
      let offers = HostKeyOffers(
        ours: ["ssh-ed25519"], server: ["rsa-sha2-512", "ssh-ed25519"])
      let error = try await sshError { try await check.judge(key, known, offers, address: nil) }
      #expect(error.kind == .hostKeyUnknown)
      #expect(error.beyondLibSSH2 == "ssh-rsa host keys")
      // The server has none of that type any more: that is the user's to judge.
      let only = HostKeyOffers(ours: ["ssh-ed25519"], server: ["ssh-ed25519"])
      try await check.judge(key, known, only, address: nil)
    }

    /// ssh_config(5), CheckHostIP. (Loopback addresses are never looked at, so there is no server.)
    @Test func theAddressMustHaveTheSameKey() async throws {
      let folder = try TemporaryFolder("known_hosts")
      let path = try folder.write("known", "")
      let file = try folder.write(
        "config", "Host *\n  CheckHostIP yes\n  UserKnownHostsFile \(path)\n")
      let host = try HostName("h")
      let configuration = try await ConfigurationProgram.configuration(of: host, file: file)
      let check = HostKeyCheck(
        configuration: configuration, host: host, options: ConnectionOptions())
      let key = try #require(
        KnownHostLine(ArraySlice("x \(Self.ed25519)".utf8), file: "f", number: 1)?.key)
      func judge(_ text: String) async throws {
        var known = KnownHosts()
        known.add(file: "f", Array(text.utf8))
        try await check.judge(key, known, HostKeyOffers(), address: "192.0.2.7")
      }
      try await judge("h,192.0.2.7 \(Self.ed25519)\n")
      #expect(try readText(path).isEmpty)
      let changed = try await sshError {
        try await judge("h \(Self.ed25519)\n192.0.2.7 \(Self.other)\n")
      }
      #expect(changed.kind == .hostKeyChanged && changed.message.contains("192.0.2.7"))
      try await judge("h \(Self.ed25519)\n")
      #expect(try readText(path) == "192.0.2.7 \(Self.ed25519)\n")
    }
  }
}
