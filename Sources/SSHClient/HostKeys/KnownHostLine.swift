import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One line of a known_hosts file.
struct KnownHostLine: Sendable {
  enum Marker: Sendable { case none, certificateAuthority, revoked }

  let marker: Marker
  let place: KnownHosts.Place
  private let hosts: [UInt8]
  private let type: String
  private let base64: [UInt8]

  /// nil for an empty line, a comment, an unknown marker, or too few fields.
  init?(_ line: ArraySlice<UInt8>, file: String, number: Int) {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    var fields = line.split(maxSplits: 4, whereSeparator: isSpace)[...]
    guard let first = fields.first, first.first != UInt8(ascii: "#") else { return nil }
    if first.first == UInt8(ascii: "@") {
      switch String(decoding: first, as: UTF8.self) {
      case "@cert-authority": marker = .certificateAuthority
      case "@revoked": marker = .revoked
      default: return nil
      }
      fields.removeFirst()
    } else {
      marker = .none
    }
    guard fields.count >= 3 else { return nil }
    let start = fields.startIndex
    hosts = [UInt8](fields[start])
    type = String(decoding: fields[start + 1], as: UTF8.self)
    base64 = [UInt8](fields[start + 2])
    place = KnownHosts.Place(file: file, number: number)
  }

  /// The key, if it can be read and is of the type that the line says.
  var key: HostKey? {
    guard let data = Data(base64Encoded: Data(base64)), let key = HostKey(blob: [UInt8](data)),
      key.type == type
    else { return nil }
    return key
  }

  /// Whether the line is about this host (in lower case).
  func names(_ name: String) -> Bool {
    if hosts.starts(with: HashedHost.prefix.utf8) {
      return HashedHost(hosts).map { $0.hash == HashedHost.hash(name, salt: $0.salt) } ?? false
    }
    let name = [UInt8](name.utf8)
    var isNamed = false
    for pattern in hosts.split(separator: UInt8(ascii: ",")) {
      let isNegated = pattern.first == UInt8(ascii: "!")
      guard Pattern.matches(isNegated ? pattern.dropFirst() : pattern, name[...]) else { continue }
      // ssh_config(5), PATTERNS: a negated match rules the whole list out.
      if isNegated { return false }
      isNamed = true
    }
    return isNamed
  }
}

/// A host name hidden by HashKnownHosts: `|1|salt|hash`, both base64.
struct HashedHost {
  static let prefix = "|1|"

  let salt: [UInt8]
  let hash: [UInt8]

  init?(_ field: [UInt8]) {
    let parts = field.dropFirst(Self.prefix.utf8.count).split(separator: UInt8(ascii: "|"))
    guard parts.count == 2, let salt = Data(base64Encoded: Data(parts[0])),
      let hash = Data(base64Encoded: Data(parts[1]))
    else { return nil }
    (self.salt, self.hash) = ([UInt8](salt), [UInt8](hash))
  }

  /// HMAC-SHA1 of the name with the salt as key.
  static func hash(_ name: String, salt: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let name = [UInt8](name.utf8)
    _ = HMAC(EVP_sha1(), salt, Int32(salt.count), name, name.count, &digest, &count)
    return [UInt8](digest.prefix(Int(count)))
  }

  /// The field for a name, with a fresh salt of 20 bytes (the length of the hash, as OpenSSH).
  static func field(for name: String) -> String {
    let salt = (0..<20).map { _ in UInt8.random(in: .min ... .max) }
    let hash = hash(name, salt: salt)
    return prefix + Data(salt).base64EncodedString() + "|" + Data(hash).base64EncodedString()
  }
}

/// `*` and `?` as ssh_config(5) has them, without regard to case.
enum Pattern {
  static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
    var (pattern, name) = (pattern, name)
    // Where to go on when what follows the last star does not fit: one byte later.
    var retry: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
    while true {
      switch pattern.first {
      case UInt8(ascii: "*"):
        pattern = pattern.dropFirst()
        retry = (pattern, name)
        continue
      case let byte? where !name.isEmpty && (byte == UInt8(ascii: "?") || fits(byte, name.first)):
        (pattern, name) = (pattern.dropFirst(), name.dropFirst())
        continue
      case nil where name.isEmpty:
        return true
      default:
        guard let last = retry, !last.name.isEmpty else { return false }
        retry = (last.pattern, last.name.dropFirst())
        (pattern, name) = (last.pattern, last.name.dropFirst())
      }
    }
  }

  private static func fits(_ byte: UInt8, _ other: UInt8?) -> Bool {
    let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    return (isUpper ? byte | 0x20 : byte) == other
  }
}
