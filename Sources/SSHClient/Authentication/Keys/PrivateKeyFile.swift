/// A private key file, as far as it can be read without a passphrase.
struct PrivateKeyFile: Sendable {
  enum Form: Sendable {
    case ready(SigningKey)
    case encrypted(OpenSSHKeyFile)
    /// PEM or PKCS#8.
    case encryptedPEM([UInt8])
    /// The private half is in a security key (`sk-…`).
    case onSecurityKey
    case unusable
  }

  let path: String
  let form: Form
  /// RFC 4253 §6.6, if the file tells it without a passphrase.
  let publicKey: [UInt8]?

  init(path: String, content: [UInt8]) {
    self.path = path
    (form, publicKey) = Self.look(content)
  }

  private static func look(_ content: [UInt8]) -> (Form, [UInt8]?) {
    let lines = content.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
      .map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
    guard let first = lines.first(where: { $0.hasPrefix("-----BEGIN ") }),
      first.hasSuffix(" PRIVATE KEY-----")
    else { return (.unusable, nil) }
    if first == OpenSSHKeyFile.firstLine {
      guard let file = OpenSSHKeyFile(lines) else { return (.unusable, nil) }
      return (form(of: file), file.publicKey)
    }
    // RFC 1421 §4.6.1.1 in the old form; RFC 5958 in the new one.
    if first == "-----BEGIN ENCRYPTED PRIVATE KEY-----"
      || lines.contains(where: { $0.hasPrefix("Proc-Type:") && $0.hasSuffix("ENCRYPTED") })
    {
      return (.encryptedPEM(content), nil)
    }
    do throws(SigningKey.Failure) {
      let key = try SigningKey(pem: content, passphrase: nil)
      return (.ready(key), key.publicKey)
    } catch {
      return (.unusable, nil)
    }
  }

  private static func form(of file: OpenSSHKeyFile) -> Form {
    if HostKey(blob: file.publicKey)?.type.hasPrefix("sk-") == true { return .onSecurityKey }
    if file.isEncrypted { return .encrypted(file) }
    do throws(SigningKey.Failure) { return .ready(try file.unlock(nil)) } catch { return .unusable }
  }

  /// Takes its time: for a thread of its own.
  func unlock(_ passphrase: Secret) throws(SigningKey.Failure) -> SigningKey {
    switch form {
    case .ready(let key): return key
    case .encrypted(let file): return try file.unlock(passphrase)
    case .encryptedPEM(let content): return try SigningKey(pem: content, passphrase: passphrase)
    case .onSecurityKey, .unusable: throw .unusable
    }
  }
}
