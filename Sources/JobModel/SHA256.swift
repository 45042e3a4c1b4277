import CCrypto

/// SHA-256 (FIPS 180-4), by libcrypto.
public enum SHA256 {
  /// The digest of `bytes` as 64 lower-case hexadecimal digits, as sha256sum(1) prints it.
  public static func hexDigest(of bytes: [UInt8]) -> String {
    var hasher = SHA256Hasher()
    hasher.update(bytes)
    return hasher.finalize()
  }
}

/// SHA-256 of bytes that come in pieces. It owns a context of libcrypto, therefore it is not copyable.
public struct SHA256Hasher: ~Copyable {
  private let context: OpaquePointer

  /// The digest of no bytes yet.
  public init() {
    // Both fail only when no memory is left or libcrypto has no SHA-256.
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("libcrypto gives no SHA-256")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Takes in the next bytes.
  public mutating func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { update($0) }
  }

  /// Takes in the next bytes.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    let done = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(done == 1, "libcrypto's SHA-256 stopped")
  }

  /// The digest as 64 lower-case hexadecimal digits; nothing can be added to it afterwards.
  public consuming func finalize() -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let done = EVP_DigestFinal_ex(context, &digest, nil)
    precondition(done == 1, "libcrypto's SHA-256 stopped")
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in digest { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }
}
