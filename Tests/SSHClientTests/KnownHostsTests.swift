import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct KnownHostsTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder("known_hosts") }

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

    /// The same lines for the same names as `ssh-keygen -F`, over some hundred generated entries.
    @Test func namesMatchAsSSHKeygenFindsThem() async throws {
      var random = SeededRandom(seed: 20_261_130)
      let path = folder["known_hosts"]
      let hashed = (0..<120).map { _ in "\(Self.name(&random)) \(Self.ed25519)\n" }.joined()
      try writeFile(path, Array(hashed.utf8))
      _ = try await Command("ssh-keygen", ["-q", "-H", "-f", path]).run()
      let plain = (0..<240).map { _ in Self.line(&random) }.joined()
      try appendToFile(path, Array(plain.utf8))
      let content = try readFile(path)
      var found = 0
      for _ in 0..<150 {
        let name = Self.name(&random)
        let theirs = try await Command("ssh-keygen", ["-F", name, "-f", path]).run()
        let expected = theirs.outputText.split(separator: "\n")
          .filter { $0.hasPrefix("# Host ") }
          .compactMap { $0.split(separator: " ").drop { $0 != "line" }.dropFirst().first }
          .compactMap { Int($0) }
        let ours = content.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
          .compactMap { KnownHostLine($1, file: path, number: $0 + 1) }
          .filter { $0.names(name.lowercased()) }
        #expect(ours.map(\.place.number) == expected, "\(name)")
        found += expected.count
      }
      #expect(found > 100, "the comparison must have had something to compare")
    }

    private static func name(_ random: inout SeededRandom) -> String {
      let name = String(
        (0..<Int.random(in: 1...2, using: &random)).map { _ in "abc".randomElement(using: &random)!
        })
      let domain = ["", ".example", ".test.example"].randomElement(using: &random)!
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return "[\(name)\(domain)]:\(2200 + Int.random(in: 0..<2, using: &random))"
      case 1: return "10.0.0.\(Int.random(in: 1...4, using: &random))"
      default: return name + domain
      }
    }

    private static func line(_ random: inout SeededRandom) -> String {
      var names = (0..<Int.random(in: 1...3, using: &random)).map { _ in name(&random) }
      switch Int.random(in: 0..<8, using: &random) {
      case 0: names.append("*.example")
      case 1: names = ["*.example", "!" + name(&random)]
      case 2: names.append("a?")
      case 3: names = names.map { $0.uppercased() }
      case 4: names = ["*"] + names.map { "!" + $0 }
      default: break
      }
      let marker = ["", "", "", "", "@revoked ", "@cert-authority "].randomElement(using: &random)!
      if Int.random(in: 0..<20, using: &random) == 0 { return "garbage without sense\n# comment\n" }
      return "\(marker)\(names.joined(separator: ",")) \(ed25519) comment\n"
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
