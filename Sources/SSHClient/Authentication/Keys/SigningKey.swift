import CCrypto

/// A private key. We sign ourselves: libssh2 1.10 knows RSA with SHA-1 only, cannot decrypt
/// every file, and calls every failure by one number.
///
/// Sendable: OpenSSL counts references to a key atomically, and nothing changes it once it is made.
final class SigningKey: @unchecked Sendable {
  private let key: OpaquePointer
  /// RFC 4253 §6.6.
  let publicKey: [UInt8]

  /// Why a file gives no key.
  enum Failure: Error, Sendable {
    case wrongPassphrase
    /// Its cipher, or the way from a passphrase to the cipher's key, is not known here.
    case unknownCipher
    /// A kind of key that SSH has no name for, or no key at all.
    case unusable
  }

  /// Owns `key` from now on, whatever comes of it.
  init(taking key: OpaquePointer) throws(Failure) {
    guard let blob = PublicKeyBlob.make(key) else {
      EVP_PKEY_free(key)
      throw .unusable
    }
    (self.key, publicKey) = (key, blob)
  }

  deinit { EVP_PKEY_free(key) }

  /// Reads PEM or PKCS#8.
  ///
  /// - Parameter passphrase: nil for a key that needs none.
  convenience init(pem content: [UInt8], passphrase: Secret?) throws(Failure) {
    ERR_clear_error()
    let key = content.withUnsafeBytes { bytes -> OpaquePointer? in
      guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
      defer { BIO_free(source) }
      // With no callback OpenSSL would ask at the terminal by itself.
      return withExtendedLifetime(passphrase) {
        PEM_read_bio_PrivateKey(
          source, nil, givePassphrase, passphrase.map { Unmanaged.passUnretained($0).toOpaque() })
      }
    }
    guard let key else {
      throw passphrase == nil
        ? .unusable : Self.isCipherUnknown() ? .unknownCipher : .wrongPassphrase
    }
    try self.init(taking: key)
  }

  /// Empties OpenSSL's queue of this thread's errors.
  private static func isCipherUnknown() -> Bool {
    var isUnknown = false
    while true {
      let code = ERR_get_error()
      if code == 0 { return isUnknown }
      let reason = Int(ERR_GET_REASON(code))
      if ERR_GET_LIB(code) == ERR_LIB_EVP,
        [
          Int(pocket_unsupported), Int(EVP_R_UNSUPPORTED_CIPHER), Int(EVP_R_UNKNOWN_PBE_ALGORITHM),
          Int(EVP_R_UNSUPPORTED_PRF), Int(EVP_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION),
        ].contains(reason)
      {
        isUnknown = true
      }
      if ERR_GET_LIB(code) == ERR_LIB_PEM, reason == PEM_R_UNSUPPORTED_ENCRYPTION {
        isUnknown = true
      }
    }
  }

  // MARK: Signing

  /// The signature's own bytes (RFC 4253 §6.6, RFC 5656 §3.1.2, RFC 8332 §3, RFC 8709 §6).
  ///
  /// - Parameter algorithm: its name on the wire, a certificate's too.
  func sign(_ data: [UInt8], _ algorithm: String) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var length = 0
    guard EVP_DigestSignInit(context, nil, Self.digest(algorithm), nil, key) == 1,
      EVP_DigestSign(context, nil, &length, data, data.count) == 1
    else { return nil }
    var signature = [UInt8](repeating: 0, count: length)
    guard EVP_DigestSign(context, &signature, &length, data, data.count) == 1 else { return nil }
    signature.removeSubrange(length...)
    return algorithm.hasPrefix("ecdsa-") ? Self.sshForm(ofECDSA: signature) : signature
  }

  private static func digest(_ algorithm: String) -> OpaquePointer? {
    switch algorithm {
    case let name where name.hasPrefix("rsa-sha2-512"): EVP_sha512()
    case let name where name.hasPrefix("rsa-sha2-256"): EVP_sha256()
    case let name where name.hasPrefix("ssh-rsa"): EVP_sha1()
    case let name where name.hasPrefix("ecdsa-sha2-nistp521"): EVP_sha512()
    case let name where name.hasPrefix("ecdsa-sha2-nistp384"): EVP_sha384()
    case let name where name.hasPrefix("ecdsa-sha2-nistp256"): EVP_sha256()
    default: nil
    }
  }

  private static func sshForm(ofECDSA signature: [UInt8]) -> [UInt8]? {
    signature.withUnsafeBufferPointer { bytes -> [UInt8]? in
      var position = bytes.baseAddress
      guard let pair = d2i_ECDSA_SIG(nil, &position, bytes.count) else { return nil }
      defer { ECDSA_SIG_free(pair) }
      var form: [UInt8] = []
      form.appendInteger(ECDSA_SIG_get0_r(pair))
      form.appendInteger(ECDSA_SIG_get0_s(pair))
      return form
    }
  }
}

private func givePassphrase(
  _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writes: Int32,
  _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context, let buffer else { return -1 }
  return Unmanaged<Secret>.fromOpaque(context).takeUnretainedValue().withBytes { bytes in
    guard bytes.count <= Int(size) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: bytes.count).copyMemory(from: bytes)
    return Int32(bytes.count)
  }
}
