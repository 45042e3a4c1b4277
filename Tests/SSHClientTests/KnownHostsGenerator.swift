import TestSupport

@testable import SSHClient

/// Makes known_hosts files in which anything may stand, and names to look up in them. Names are
/// few, so that many lines are about the one that is asked for.
struct KnownHostsGenerator {
  static let types = ["ed25519", "ecdsa", "rsa"]

  private var random: SeededRandom
  /// Type and base64, as in a `.pub` file.
  private var keys: [String] = []

  init(seed: UInt64, _ folder: TemporaryFolder) async throws {
    random = SeededRandom(seed: seed)
    for type in Self.types {
      let path = folder["key_\(type)"]
      try await LoopbackServer.makeKey(type, path)
      keys.append(
        try readText(path + ".pub").split(separator: " ").prefix(2).joined(separator: " "))
    }
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &random)]
  }

  /// A host as known_hosts names it.
  mutating func name() -> String {
    let host =
      switch Int.random(in: 0..<8, using: &random) {
      case 0: "10.0.0.\(Int.random(in: 1...2, using: &random))"
      case 1: pick(["::1", "fe80::1%lo"])
      default: pick(["a", "b", "ab"]) + pick(["", ".example", ".test.example"])
      }
    return chance(4) ? "[\(host)]:\(pick([22, 2200]))" : host
  }

  mutating func file() -> [UInt8] {
    let end: [UInt8] = chance(5) ? [0x0D, 0x0A] : [0x0A]
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...8, using: &random) { bytes += line() + end }
    // The last line may have no end.
    return chance(4) ? Array(bytes.dropLast(end.count)) : bytes
  }

  private mutating func line() -> [UInt8] {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return Array(pick(["", "   ", "# comment", "\t# a \(keys[0])", "garbage"]).utf8)
    case 1: return (0..<40).map { _ in pick(Array(0...9) + Array(11...255)) }
    case 2 where chance(8):
      return Array((name() + " " + String(repeating: "x", count: 70_000)).utf8)
    default: break
    }
    var text = chance(12) ? pick([" ", "\t", " \t "]) : ""
    text += pick(["", "", "", "", "@revoked ", "@cert-authority  ", "@revoked ", "@odd ", "@ "])
    if chance(60) { text += "@revoked " }
    text += hosts() + pick([" ", " ", " ", "\t", "  \t"]) + key()
    text += pick(["", " comment", "\tcomment of words", " ", " #"])
    var bytes = Array(text.utf8)
    if chance(40) { bytes.insert(pick([0x01, 0x0D, 0x0B, 0xFF]), at: pick(Array(bytes.indices))) }
    return bytes
  }

  private mutating func hosts() -> String {
    if chance(5) { return hashed() }
    var names = (0..<Int.random(in: 1...3, using: &random)).map { _ in name() }
    switch Int.random(in: 0..<16, using: &random) {
    case 0: names.append("*.example")
    case 1: names = ["*.example", "!" + name()]
    case 2: names.append(pick(["a?", "?", "*b*", "**", "10.0.0.?", "[*]:2200", "*:*"]))
    case 3: names = names.map { $0.uppercased() }
    case 4: names = ["*"] + names.map { "!" + $0 }
    case 5: names.insert(pick(["", "!", "!!a", "|", "a b"]), at: 0)
    case 6: names.append(String(repeating: "y", count: pick([1000, 1022, 1023, 1024, 5000])))
    case 7 where chance(4): names += (0..<300).map { "filler\($0).example" }
    default: break
    }
    return names.joined(separator: ",")
  }

  private mutating func hashed() -> String {
    let field = HashedHost.field(for: name())
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return String(field.dropLast(Int.random(in: 1...9, using: &random)))
    case 1: return field + pick(["|", ",a", "=", "|x"])
    case 2: return "|2|" + field.dropFirst(3)
    case 3: return String(field.prefix(20)) + "!" + field.dropFirst(21)
    case 4: return field.uppercased()
    default: return field
    }
  }

  private mutating func key() -> String {
    let key = pick(keys)
    let parts = key.split(separator: " ").map(String.init)
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return pick(["ssh-rsa", "ssh-dss", "ssh-odd", "1024"]) + " " + parts[1]
    case 1: return parts[0] + " " + parts[1].dropLast(Int.random(in: 1...8, using: &random))
    case 2: return parts[0] + " " + parts[1] + pick(["=", "==", "A", "AAAA", "!"])
    case 3: return pick([parts[0], parts[1], parts[0] + " ", parts[0] + " #"])
    case 4: return parts[0] + pick(["  ", "\t"]) + parts[1]
    case 5:
      let place = Int.random(in: 4..<20, using: &random)
      return parts[0] + " " + parts[1].prefix(place) + pick(["-", "_", "\r"])
        + parts[1].dropFirst(place)
    default: return key
    }
  }
}
