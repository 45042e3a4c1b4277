import CCrypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A host's public key.
struct HostKey: Sendable, Equatable {
  /// RFC 4253 §6.6: the key type's name, then the key.
  let blob: [UInt8]
  /// `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`, …
  let type: String

  init?(blob: [UInt8]) {
    let name = blob.withUnsafeBytes { bytes in
      var packet = PacketReader(bytes[...])
      return packet.text()
    }
    guard let name, !name.isEmpty else { return nil }
    (self.blob, type) = (blob, name)
  }

  /// As `ssh-keygen -l` shows it: `SHA256:` and base64 without padding.
  var fingerprint: String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    EVP_Digest(blob, blob.count, &digest, &count, EVP_sha256(), nil)
    let text = Data(digest.prefix(Int(count))).base64EncodedString()
    return "SHA256:" + text.prefix { $0 != "=" }
  }

  /// As OpenSSH's messages name the type: `ED25519`, `ECDSA`, `RSA`.
  var typeName: String {
    switch type {
    case "ssh-ed25519": "ED25519"
    case "ssh-rsa": "RSA"
    case "ssh-dss": "DSA"
    case let name where name.hasPrefix("ecdsa-sha2-"): "ECDSA"
    default: type
    }
  }
}
