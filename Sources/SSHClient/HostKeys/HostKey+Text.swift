#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HostKey {
  /// A public key as OpenSSH's files have it: the type, then the key in base64. What follows is a
  /// comment.
  ///
  /// nil for what OpenSSH would not take for a key either: a garbled line must not count as the one
  /// that is known for a host.
  init?(words: ArraySlice<ArraySlice<UInt8>>) {
    guard words.count >= 2 else { return nil }
    // OpenSSH's decoder passes over white space, like the carriage return of CRLF.
    let base64 = words[words.startIndex + 1].filter { !(0x09...0x0D).contains($0) }
    guard let data = Data(base64Encoded: Data(base64)), let key = HostKey(blob: [UInt8](data)),
      key.type.utf8.elementsEqual(words[words.startIndex]), key.isWellFormed,
      // Bits that stand for nothing must be 0.
      data.base64EncodedString().utf8.elementsEqual(base64)
    else { return nil }
    self = key
  }

  /// Whether the blob has the parts that a key of its type has, and nothing behind them (RFC 4253
  /// §6.6, RFC 5656 §3.1, RFC 8709 §4, PROTOCOL.u2f of OpenSSH). That an elliptic curve's point lies
  /// on the curve is not looked at.
  private var isWellFormed: Bool {
    blob.withUnsafeBytes { bytes in
      var packet = PacketReader(bytes[...])
      _ = packet.bytes()
      var parts: [[UInt8]] = []
      while let part = packet.bytes() { parts.append(part) }
      guard packet.byte() == nil else { return false }
      let sizes = parts.map(\.count)
      switch type {
      case "ssh-ed25519": return sizes == [32]
      case "sk-ssh-ed25519@openssh.com": return sizes.count == 2 && sizes[0] == 32
      case "ssh-rsa":
        return parts.count == 2 && parts.allSatisfy(Self.isPositive) && sizes[1] >= 128
      case "ssh-dss": return parts.count == 4 && parts.allSatisfy(Self.isPositive)
      case "sk-ecdsa-sha2-nistp256@openssh.com":
        return parts.count == 3 && Self.isPoint(parts[1], on: parts[0])
      case "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521":
        return parts.count == 2 && type.utf8.suffix(8).elementsEqual(parts[0])
          && Self.isPoint(parts[1], on: parts[0])
      default: return false
      }
    }
  }

  private static func isPositive(_ number: [UInt8]) -> Bool {
    number.first.map { $0 < 0x80 } ?? false
  }

  private static func isPoint(_ point: [UInt8], on curve: [UInt8]) -> Bool {
    let size =
      switch String(decoding: curve, as: UTF8.self) {
      case "nistp256": 65
      case "nistp384": 97
      case "nistp521": 133
      default: 0
      }
    // SEC 1 §2.3.3: 4 is for a point that is not compressed.
    return point.count == size && point.first == 4
  }
}
