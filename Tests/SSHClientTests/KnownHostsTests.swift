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
      let unknown = KnownHosts.Verdict.unknown(otherTypes: [], authority: false)
      #expect(try verdict("*.example,!bad.example \(key)\n", host: "bad.example") == unknown)
      #expect(try verdict("# h \(key)\n") == unknown)
      #expect(try verdict("@strange h \(key)\n") == unknown)
      #expect(try verdict("h ssh-rsa \(key.split(separator: " ")[1])\n") == unknown)
      #expect(try verdict("garbage\n\u{0}\u{1}\nh \(key)\n") == .known)
      #expect(try verdict(String(repeating: "x", count: 100_000) + "\nh \(key)\n") == .known)
      #expect(try verdict("[h]:2222 \(key)\n", port: 2222) == .known)
      #expect(try verdict("h \(key)\n", port: 2222) == .known)
      #expect(try verdict("[h]:2222 \(key)\n", port: 22) == unknown)
      #expect(
        try verdict("@cert-authority h \(key)\n") == .unknown(otherTypes: [], authority: true))
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
  }
}

/// SplitMix64: the same numbers in every run.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
