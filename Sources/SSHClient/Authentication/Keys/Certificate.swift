/// An OpenSSH certificate (its PROTOCOL.certkeys) for a user's key.
struct Certificate: Sendable, Equatable {
  let blob: [UInt8]
  let type: String
  /// The key that it is for, as a plain public key.
  let publicKey: [UInt8]
  /// The first second, since 1970, in which it holds no longer.
  let validBefore: UInt64

  static let suffix = "-cert-v01@openssh.com"
  private static let userCertificate: UInt32 = 1

  /// nil when this is no certificate, or one for a host.
  init?(blob: [UInt8]) {
    let parsed = blob.withUnsafeBytes { bytes -> (String, [UInt8], UInt64)? in
      var reader = PacketReader(bytes[...])
      guard let type = reader.text(), type.hasSuffix(Self.suffix), reader.bytes() != nil,
        let fields = Self.fieldCount(type)
      else { return nil }
      // A security key's type has its `@openssh.com` twice, the plain one once.
      var name = String(type.dropLast(Self.suffix.count))
      if name.hasPrefix("sk-") { name += "@openssh.com" }
      var key: [UInt8] = []
      key.appendField([UInt8](name.utf8))
      for _ in 0..<fields {
        guard let field = reader.bytes() else { return nil }
        key.appendField(field)
      }
      // Serial, then kind, key id and principals.
      guard reader.longNumber() != nil, reader.number() == Self.userCertificate,
        reader.bytes() != nil, reader.bytes() != nil,
        reader.longNumber() != nil, let validBefore = reader.longNumber()
      else { return nil }
      return (type, key, validBefore)
    }
    guard let parsed else { return nil }
    self.blob = blob
    (type, publicKey, validBefore) = parsed
  }

  /// Of how many values the plain key of such a certificate consists.
  private static func fieldCount(_ type: String) -> Int? {
    switch type.dropLast(suffix.count) {
    case "ssh-ed25519": 1
    case "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
      "sk-ssh-ed25519":
      2
    case "sk-ecdsa-sha2-nistp256": 3
    default: nil
    }
  }
}

extension PacketReader {
  /// RFC 4251 §5, `uint64`.
  mutating func longNumber() -> UInt64? {
    guard let high = number(), let low = number() else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }
}
