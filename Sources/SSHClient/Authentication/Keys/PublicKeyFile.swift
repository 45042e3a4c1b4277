#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A public key or a certificate in a line as `ssh-keygen` writes it: `ssh-ed25519 AAAA… comment`.
struct PublicKeyFile: Sendable {
  /// RFC 4253 §6.6.
  let blob: [UInt8]

  /// nil when there is no such file, or no key in it.
  static func read(_ path: String, host: String) throws(SSHError) -> PublicKeyFile? {
    try UserFiles.check(path, host: host)
    guard case .success(let content) = UserFiles.read(path) else { return nil }
    return PublicKeyFile(content: content)
  }

  init?(content: [UInt8]) {
    let fields = content.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    guard fields.count >= 2, let data = Data(base64Encoded: Data(fields[1])),
      let key = HostKey(blob: [UInt8](data)), key.type.utf8.elementsEqual(fields[0])
    else { return nil }
    blob = key.blob
  }
}
