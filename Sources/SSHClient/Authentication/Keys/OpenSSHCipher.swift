import CCrypto

/// A cipher in which OpenSSH writes private keys (ssh-keygen(1), -Z).
struct OpenSSHCipher: Sendable {
  private enum Kind: Sendable {
    case plain
    case authenticated
    /// OpenSSH's own way with it (PROTOCOL.chacha20poly1305).
    case chacha
  }

  private let kind: Kind
  /// OpenSSL's name.
  private let name: String
  let keyLength: Int
  let nonceLength: Int
  /// What follows the private section.
  var tagLength: Int { kind == .plain ? 0 : 16 }

  /// nil for a cipher that is not known here.
  init?(_ name: String) {
    switch name {
    case "3des-cbc": self.init(.plain, "DES-EDE3-CBC", 24, 8)
    case "aes128-cbc": self.init(.plain, "AES-128-CBC", 16, 16)
    case "aes192-cbc": self.init(.plain, "AES-192-CBC", 24, 16)
    case "aes256-cbc": self.init(.plain, "AES-256-CBC", 32, 16)
    case "aes128-ctr": self.init(.plain, "AES-128-CTR", 16, 16)
    case "aes192-ctr": self.init(.plain, "AES-192-CTR", 24, 16)
    case "aes256-ctr": self.init(.plain, "AES-256-CTR", 32, 16)
    case "aes128-gcm@openssh.com": self.init(.authenticated, "AES-128-GCM", 16, 12)
    case "aes256-gcm@openssh.com": self.init(.authenticated, "AES-256-GCM", 32, 12)
    case "chacha20-poly1305@openssh.com": self.init(.chacha, "ChaCha20", 64, 0)
    default: return nil
    }
  }

  private init(_ kind: Kind, _ name: String, _ keyLength: Int, _ nonceLength: Int) {
    (self.kind, self.name) = (kind, name)
    (self.keyLength, self.nonceLength) = (keyLength, nonceLength)
  }

  /// nil when the tag does not fit: the key is another one.
  ///
  /// - Parameter key: key and nonce.
  func decrypt(_ bytes: [UInt8], tag: [UInt8], key: Secret) -> [UInt8]? {
    key.withBytes { key in
      let nonce = UnsafeRawBufferPointer(rebasing: key[keyLength...])
      switch kind {
      case .plain: return run(bytes, key, nonce, tag: nil)
      case .authenticated: return run(bytes, key, nonce, tag: tag)
      case .chacha: return decryptChaCha(bytes, tag, key)
      }
    }
  }

  /// A block counter of 0 gives the MAC's key, one of 1 begins the text.
  private func decryptChaCha(
    _ bytes: [UInt8], _ tag: [UInt8], _ key: UnsafeRawBufferPointer
  ) -> [UInt8]? {
    var counter = [UInt8](repeating: 0, count: 16)
    let zeros = [UInt8](repeating: 0, count: 32)
    guard let macKey = counter.withUnsafeBytes({ run(zeros, key, $0, tag: nil) }) else {
      return nil
    }
    var computed = [UInt8](repeating: 0, count: 16)
    var length = 0
    guard
      EVP_Q_mac(
        nil, "POLY1305", nil, nil, nil, macKey, macKey.count, bytes, bytes.count, &computed,
        computed.count, &length) != nil,
      tag.count == length, CRYPTO_memcmp(computed, tag, length) == 0
    else { return nil }
    counter[0] = 1
    return counter.withUnsafeBytes { run(bytes, key, $0, tag: nil) }
  }

  private func run(
    _ bytes: [UInt8], _ key: UnsafeRawBufferPointer, _ nonce: UnsafeRawBufferPointer, tag: [UInt8]?
  ) -> [UInt8]? {
    guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else { return nil }
    defer { EVP_CIPHER_free(cipher) }
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    func start(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    }
    guard EVP_DecryptInit_ex(context, cipher, nil, start(key), start(nonce)) == 1,
      EVP_CIPHER_CTX_set_padding(context, 0) == 1
    else { return nil }
    if var tag {
      guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else {
        return nil
      }
    }
    var output = [UInt8](repeating: 0, count: bytes.count + 32)
    var length: Int32 = 0
    var last: Int32 = 0
    guard EVP_DecryptUpdate(context, &output, &length, bytes, Int32(bytes.count)) == 1 else {
      return nil
    }
    let end = output.withUnsafeMutableBufferPointer {
      EVP_DecryptFinal_ex(context, $0.baseAddress! + Int(length), &last)
    }
    guard end == 1 else { return nil }
    output.removeSubrange(Int(length + last)...)
    return output
  }
}
