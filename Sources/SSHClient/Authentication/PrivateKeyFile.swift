#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A private key file, as far as it can be read without a passphrase.
struct PrivateKeyFile: Sendable {
  enum Form: Sendable {
    /// OpenSSH's own format, and the cipher that its header names; libssh2 reads it.
    case openSSH(cipher: String)
    /// We sign with it ourselves.
    case ready(SigningKey)
    /// PEM or PKCS#8; OpenSSL decrypts it.
    case encryptedPEM
    case unusable
  }

  let path: String
  let content: [UInt8]
  let form: Form
  /// RFC 4253 §6.6, if the file tells it without a passphrase.
  let publicKey: [UInt8]?

  init(path: String, content: [UInt8]) {
    (self.path, self.content) = (path, content)
    (form, publicKey) = Self.look(content)
  }

  private static func look(_ content: [UInt8]) -> (Form, [UInt8]?) {
    let lines = content.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
      .map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
    let first = lines.first { $0.hasPrefix("-----BEGIN ") }
    if first == "-----BEGIN OPENSSH PRIVATE KEY-----" {
      let body = lines.filter { !$0.hasPrefix("-----") }.joined()
      return lookInside(Data(base64Encoded: body).map { [UInt8]($0) } ?? [])
    }
    guard let first, first.hasSuffix(" PRIVATE KEY-----") else { return (.unusable, nil) }
    // RFC 1421 §4.6.1.1 in the old form; RFC 5958 in the new one.
    if first == "-----BEGIN ENCRYPTED PRIVATE KEY-----"
      || lines.contains(where: { $0.hasPrefix("Proc-Type:") && $0.hasSuffix("ENCRYPTED") })
    {
      return (.encryptedPEM, nil)
    }
    guard let key = try? SigningKey(pem: content, passphrase: nil) else { return (.unusable, nil) }
    return (.ready(key), key.publicKey)
  }

  /// The format of OpenSSH's PROTOCOL.key: magic, cipher, KDF, its options, count, public key,
  /// private section.
  private static func lookInside(_ body: [UInt8]) -> (Form, [UInt8]?) {
    let magic = [UInt8]("openssh-key-v1\0".utf8)
    guard body.starts(with: magic) else { return (.unusable, nil) }
    return body.withUnsafeBytes { bytes -> (Form, [UInt8]?) in
      var reader = PacketReader(bytes.dropFirst(magic.count))
      guard let cipher = reader.text(), reader.bytes() != nil, reader.bytes() != nil,
        reader.number() == 1, let blob = reader.bytes(), let key = HostKey(blob: blob)
      else { return (.unusable, nil) }
      if key.type == "ssh-rsa", cipher == "none" {
        let rsa = reader.bytes().flatMap { try? SigningKey(openSSHRSA: $0) }
        return (rsa.map { .ready($0) } ?? .unusable, blob)
      }
      return (.openSSH(cipher: cipher), blob)
    }
  }
}
