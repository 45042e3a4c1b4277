import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A host name hidden by HashKnownHosts: `|1|salt|hash`, both base64.
enum HashedHost {
  static let delimiter = UInt8(ascii: "|")
  private static let prefix = "|1|"
  /// That of a SHA-1, as OpenSSH has it.
  private static let saltLength = 20

  /// Whether `field` is the name's. As OpenSSH does it, the field is made anew from its own salt.
  static func matches(_ field: [UInt8], _ name: String) -> Bool {
    guard field.starts(with: prefix.utf8) else { return false }
    let salt = field.dropFirst(prefix.utf8.count).prefix { $0 != delimiter }
    guard let salt = Data(base64Encoded: Data(salt)), salt.count == saltLength else { return false }
    return field.elementsEqual(Self.field(for: name, salt: [UInt8](salt)).utf8)
  }

  /// The field for a name, with a fresh salt.
  static func field(for name: String) -> String {
    field(for: name, salt: (0..<saltLength).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// HMAC-SHA1 of the name with the salt as key.
  private static func field(for name: String, salt: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let name = [UInt8](name.utf8)
    _ = HMAC(EVP_sha1(), salt, Int32(salt.count), name, name.count, &digest, &count)
    let hash = Data(digest.prefix(Int(count)))
    return prefix + Data(salt).base64EncodedString() + "|" + hash.base64EncodedString()
  }
}
