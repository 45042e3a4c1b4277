import CCrypto

/// Makes a cipher's key from a passphrase as OpenSSH does for its private keys: OpenBSD's
/// bcrypt_pbkdf(3). OpenSSL has none.
enum BcryptKDF {
  /// - Parameters:
  ///   - rounds: the file's; each costs some milliseconds.
  ///   - length: how many bytes the cipher wants.
  static func key(_ passphrase: Secret, salt: [UInt8], rounds: UInt32, length: Int) -> Secret {
    var secret = passphrase.withBytes { digest($0) }
    defer { secret.wipe() }
    var key = [UInt8](repeating: 0, count: length)
    let stride = (length + blockSize - 1) / blockSize
    let hash = BcryptHash()
    for block in 0..<stride {
      var salt = salt
      salt.appendNumber(block + 1)
      var output = hash.hash(secret, salt: salt.withUnsafeBytes { digest($0) })
      var sum = output
      for _ in 1..<max(rounds, 1) {
        output = hash.hash(secret, salt: output.withUnsafeBytes { digest($0) })
        for index in sum.indices { sum[index] ^= output[index] }
      }
      // The blocks are dealt out like cards, not laid one behind the other.
      for (index, byte) in sum.enumerated() where index * stride + block < length {
        key[index * stride + block] = byte
      }
    }
    return Secret(taking: &key)
  }

  private static let blockSize = 32

  private static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 64)
    EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha512(), nil)
    return digest
  }
}

/// bcrypt with the salt and the text of bcrypt_pbkdf(3), and Blowfish (Schneier, 1993) under it.
private final class BcryptHash {
  private static let text = [UInt8]("OxychromaticBlowfishSwatDynamite".utf8)
  private static let pCount = 18

  /// P, then the four S boxes.
  private let state: UnsafeMutablePointer<UInt32>
  private let boxes: UnsafeMutablePointer<UInt32>

  init() {
    state = .allocate(capacity: BlowfishTable.words.count)
    state.initialize(repeating: 0, count: BlowfishTable.words.count)
    boxes = state + Self.pCount
  }

  deinit {
    OPENSSL_cleanse(state, BlowfishTable.words.count * MemoryLayout<UInt32>.size)
    state.deallocate()
  }

  func hash(_ secret: [UInt8], salt: [UInt8]) -> [UInt8] {
    BlowfishTable.words.withUnsafeBufferPointer {
      state.update(from: $0.baseAddress!, count: $0.count)
    }
    let (secret, salt) = (words(secret), words(salt))
    expand(secret, salt)
    for _ in 0..<64 {
      expand(salt, nil)
      expand(secret, nil)
    }
    var output: [UInt8] = []
    let text = words(Self.text)
    for index in stride(from: 0, to: text.count, by: 2) {
      var (left, right) = (text[index], text[index + 1])
      for _ in 0..<64 { encipher(&left, &right) }
      for word in [left, right] {
        for shift in [0, 8, 16, 24] { output.append(UInt8(truncatingIfNeeded: word >> shift)) }
      }
    }
    return output
  }

  private func words(_ bytes: [UInt8]) -> [UInt32] {
    stride(from: 0, to: bytes.count, by: 4).map { start in
      bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
  }

  /// Blowfish's key schedule; with `salt`, bcrypt's.
  private func expand(_ key: [UInt32], _ salt: [UInt32]?) {
    for index in 0..<Self.pCount { state[index] ^= key[index % key.count] }
    var left: UInt32 = 0
    var right: UInt32 = 0
    var next = 0
    for index in stride(from: 0, to: BlowfishTable.words.count, by: 2) {
      if let salt {
        left ^= salt[next % salt.count]
        right ^= salt[(next + 1) % salt.count]
        next += 2
      }
      encipher(&left, &right)
      state[index] = left
      state[index + 1] = right
    }
  }

  private func encipher(_ left: inout UInt32, _ right: inout UInt32) {
    var (one, other) = (left ^ state[0], right)
    var round = 1
    while round < Self.pCount - 1 {
      other ^= scramble(one) ^ state[round]
      one ^= scramble(other) ^ state[round + 1]
      round += 2
    }
    (left, right) = (other ^ state[Self.pCount - 1], one)
  }

  private func scramble(_ word: UInt32) -> UInt32 {
    let sum = boxes[Int(word >> 24)] &+ boxes[256 + Int(word >> 16 & 0xFF)]
    return (sum ^ boxes[512 + Int(word >> 8 & 0xFF)]) &+ boxes[768 + Int(word & 0xFF)]
  }
}
