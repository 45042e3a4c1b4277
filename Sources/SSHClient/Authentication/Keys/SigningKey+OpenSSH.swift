import CCrypto

extension SigningKey {
  /// Reads a key's own part of OpenSSH's format, from its type on.
  convenience init(openSSH reader: inout PacketReader) throws(Failure) {
    let key: OpaquePointer?
    switch reader.text() {
    case "ssh-rsa":
      // n, e, d; what follows would only make it faster.
      key = Self.make("RSA", reader.numbers(3), ["n", "e", "d"])
    case "ssh-ed25519":
      // The public half, then the seed with the public half once more (RFC 8032).
      guard reader.bytes() != nil, var pair = reader.bytes(), pair.count == 64 else {
        throw .unusable
      }
      key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, pair, 32)
      pair.wipe()
    case let type? where type.hasPrefix("ecdsa-sha2-nistp"):
      guard reader.text() != nil, let point = reader.bytes() else { throw .unusable }
      let curve = "P-" + type.dropFirst("ecdsa-sha2-nistp".count)
      key = Self.make("EC", reader.numbers(1), ["priv"], curve: curve, point: point)
    default: throw .unusable
    }
    guard let key else { throw .unusable }
    try self.init(taking: key)
  }

  /// EVP_PKEY-RSA(7), EVP_PKEY-EC(7).
  private static func make(
    _ type: String, _ numbers: [OpaquePointer]?, _ names: [StaticString],
    curve: String = "", point: [UInt8] = []
  ) -> OpaquePointer? {
    guard let numbers else { return nil }
    defer { for number in numbers { BN_clear_free(number) } }
    guard let builder = OSSL_PARAM_BLD_new() else { return nil }
    defer { OSSL_PARAM_BLD_free(builder) }
    // The builder and what it builds keep the names' and the values' addresses.
    func pointer(_ name: StaticString) -> UnsafePointer<CChar> {
      UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
    for (name, number) in zip(names, numbers) {
      guard OSSL_PARAM_BLD_push_BN(builder, pointer(name), number) == 1 else { return nil }
    }
    return Array(curve.utf8CString).withUnsafeBufferPointer { curve in
      point.withUnsafeBytes { point -> OpaquePointer? in
        if !point.isEmpty {
          guard
            OSSL_PARAM_BLD_push_utf8_string(builder, pointer("group"), curve.baseAddress, 0) == 1,
            OSSL_PARAM_BLD_push_octet_string(
              builder, pointer("pub"), point.baseAddress, point.count) == 1
          else { return nil }
        }
        guard let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
        defer { OSSL_PARAM_free(parameters) }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
          EVP_PKEY_fromdata(context, &key, Int32(pocket_key_pair), parameters) == 1
        else { return nil }
        return key
      }
    }
  }
}

extension PacketReader {
  /// RFC 4251 §5, `mpint`; whoever gets them frees them.
  fileprivate mutating func numbers(_ count: Int) -> [OpaquePointer]? {
    var numbers: [OpaquePointer] = []
    for _ in 0..<count {
      guard var bytes = bytes(), let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else {
        for number in numbers { BN_clear_free(number) }
        return nil
      }
      bytes.wipe()
      numbers.append(number)
    }
    return numbers
  }
}
