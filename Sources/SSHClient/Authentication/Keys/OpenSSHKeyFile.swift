#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A private key in OpenSSH's own format (its PROTOCOL.key). We read it ourselves, since libssh2 1.10
/// cannot do all of its ciphers, nor RSA with SHA-2, and tells no failure from another.
struct OpenSSHKeyFile: Sendable {
  /// RFC 4253 §6.6; it is not encrypted.
  let publicKey: [UInt8]
  let cipherName: String
  private let salt: [UInt8]
  private let rounds: UInt32
  private let section: [UInt8]
  private let tag: [UInt8]

  static let firstLine = "-----BEGIN OPENSSH PRIVATE KEY-----"

  /// - Parameter lines: of the whole file.
  init?(_ lines: [String]) {
    let body = lines.filter { !$0.hasPrefix("-----") }.joined()
    let magic = [UInt8]("openssh-key-v1\0".utf8)
    guard let data = Data(base64Encoded: body), data.starts(with: magic) else { return nil }
    let parsed = [UInt8](data).withUnsafeBytes { bytes -> OpenSSHKeyFile? in
      var reader = PacketReader(bytes.dropFirst(magic.count))
      guard let cipher = reader.text(), let function = reader.text(), let options = reader.bytes(),
        ["none", "bcrypt"].contains(function), reader.number() == 1, let blob = reader.bytes(),
        HostKey(blob: blob) != nil, let section = reader.bytes()
      else { return nil }
      var salt: [UInt8] = []
      var rounds: UInt32 = 0
      if function == "bcrypt" {
        let read = options.withUnsafeBytes { bytes -> ([UInt8], UInt32)? in
          var reader = PacketReader(bytes[...])
          guard let salt = reader.bytes(), let rounds = reader.number() else { return nil }
          return (salt, rounds)
        }
        guard let read else { return nil }
        (salt, rounds) = read
      }
      return OpenSSHKeyFile(
        publicKey: blob, cipherName: cipher, salt: salt, rounds: rounds, section: section,
        tag: [UInt8](reader.rest))
    }
    guard let parsed else { return nil }
    self = parsed
  }

  private init(
    publicKey: [UInt8], cipherName: String, salt: [UInt8], rounds: UInt32, section: [UInt8],
    tag: [UInt8]
  ) {
    (self.publicKey, self.cipherName, self.salt) = (publicKey, cipherName, salt)
    (self.rounds, self.section, self.tag) = (rounds, section, tag)
  }

  var isEncrypted: Bool { cipherName != "none" }

  /// Takes its time with a passphrase: for a thread of its own.
  func unlock(_ passphrase: Secret?) throws(SigningKey.Failure) -> SigningKey {
    var plain = try decrypted(passphrase)
    defer { plain.wipe() }
    let result = plain.withUnsafeBytes { bytes -> Result<SigningKey, SigningKey.Failure> in
      var reader = PacketReader(bytes[...])
      // Two equal numbers tell that the passphrase was right.
      guard let check = reader.number(), reader.number() == check else {
        return .failure(isEncrypted ? .wrongPassphrase : .unusable)
      }
      return Result { () throws(SigningKey.Failure) in try SigningKey(openSSH: &reader) }
    }
    let key = try result.get()
    guard key.publicKey == publicKey else { throw .unusable }
    return key
  }

  private func decrypted(_ passphrase: Secret?) throws(SigningKey.Failure) -> [UInt8] {
    guard isEncrypted else { return section }
    guard let cipher = OpenSSHCipher(cipherName) else { throw .unknownCipher }
    guard let passphrase else { throw .wrongPassphrase }
    let key = BcryptKDF.key(
      passphrase, salt: salt, rounds: rounds, length: cipher.keyLength + cipher.nonceLength)
    guard
      let plain = cipher.decrypt(section, tag: [UInt8](tag.prefix(cipher.tagLength)), key: key)
    else { throw .wrongPassphrase }
    return plain
  }
}
