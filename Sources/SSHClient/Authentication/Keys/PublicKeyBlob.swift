import CCrypto

/// Public keys as SSH writes them.
enum PublicKeyBlob {
  /// RFC 4253 §6.6 (RSA), RFC 5656 §3.1 (ECDSA), RFC 8709 §4 (Ed25519).
  static func make(_ key: OpaquePointer) -> [UInt8]? {
    var blob: [UInt8] = []
    switch EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA:
      guard let n = number(OSSL_PKEY_PARAM_RSA_N, of: key),
        let e = number(OSSL_PKEY_PARAM_RSA_E, of: key)
      else { return nil }
      defer {
        BN_free(n)
        BN_free(e)
      }
      blob.appendField([UInt8]("ssh-rsa".utf8))
      blob.appendInteger(e)
      blob.appendInteger(n)
    case EVP_PKEY_EC:
      guard let curve = curve(of: key), let point = bytes(OSSL_PKEY_PARAM_PUB_KEY, of: key) else {
        return nil
      }
      blob.appendField([UInt8]("ecdsa-sha2-\(curve)".utf8))
      blob.appendField([UInt8](curve.utf8))
      blob.appendField(point)
    case EVP_PKEY_ED25519:
      guard let point = bytes(OSSL_PKEY_PARAM_PUB_KEY, of: key) else { return nil }
      blob.appendField([UInt8]("ssh-ed25519".utf8))
      blob.appendField(point)
    default: return nil
    }
    return blob
  }

  /// The same key under another name for its type.
  static func renamed(_ blob: [UInt8], to type: String) -> [UInt8] {
    let name = blob.withUnsafeBytes { bytes in
      var reader = PacketReader(bytes[...])
      return reader.bytes()
    }
    var renamed: [UInt8] = []
    renamed.appendField([UInt8](type.utf8))
    return renamed + blob.dropFirst(4 + (name?.count ?? 0))
  }

  private static func number(_ name: String, of key: OpaquePointer) -> OpaquePointer? {
    var number: OpaquePointer?
    return EVP_PKEY_get_bn_param(key, name, &number) == 1 ? number : nil
  }

  private static func bytes(_ name: String, of key: OpaquePointer) -> [UInt8]? {
    var length = 0
    guard EVP_PKEY_get_octet_string_param(key, name, nil, 0, &length) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: length)
    guard EVP_PKEY_get_octet_string_param(key, name, &bytes, length, &length) == 1 else {
      return nil
    }
    return bytes
  }

  private static func curve(of key: OpaquePointer) -> String? {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard
      EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, &name, name.count, &length)
        == 1
    else { return nil }
    switch name.withUnsafeBufferPointer({ String(cString: $0.baseAddress!) }) {
    case "prime256v1", "P-256": return "nistp256"
    case "secp384r1", "P-384": return "nistp384"
    case "secp521r1", "P-521": return "nistp521"
    default: return nil
    }
  }
}

extension [UInt8] {
  /// RFC 4251 §5, `mpint`, of a number that is not negative.
  mutating func appendInteger(_ number: OpaquePointer?) {
    var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
    BN_bn2bin(number, &bytes)
    if let first = bytes.first, first >= 0x80 { bytes.insert(0, at: 0) }
    appendField(bytes)
  }
}
