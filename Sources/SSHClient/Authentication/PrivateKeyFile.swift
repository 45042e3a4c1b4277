#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A private key file, as far as its outside tells.
struct PrivateKeyFile: Sendable {
  enum Form: Sendable, Equatable {
    /// libssh2 can use it as it is.
    case usable
    case encrypted
    case rsa
    /// `sk-…`: the key is in a security key.
    case securityKey
    case unknown
  }

  let path: String
  let content: [UInt8]
  let form: Form
  /// RFC 4253 §6.6, if the file tells it without a passphrase.
  let publicKey: [UInt8]?

  /// nil when there is no such file.
  init?(path: String, host: String) throws(SSHError) {
    try UserFiles.check(path, host: host)
    switch UserFiles.read(path) {
    case .failure(let error) where error.code == ENOENT: return nil
    case .failure(let error):
      throw SSHError(
        .authentication, .badConfiguration, host: host, "Cannot read \(path): \(error.words)")
    case .success(let content):
      self.path = path
      self.content = content
      (form, publicKey) = Self.look(content)
    }
  }

  private static func look(_ content: [UInt8]) -> (Form, [UInt8]?) {
    let lines = content.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
      .map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
    switch lines.first(where: { $0.hasPrefix("-----BEGIN ") }) {
    case "-----BEGIN OPENSSH PRIVATE KEY-----":
      let body = lines.filter { !$0.hasPrefix("-----") }.joined()
      return lookInside(Data(base64Encoded: body).map { [UInt8]($0) } ?? [])
    case "-----BEGIN RSA PRIVATE KEY-----": return (.rsa, nil)
    case "-----BEGIN ENCRYPTED PRIVATE KEY-----": return (.encrypted, nil)
    case "-----BEGIN EC PRIVATE KEY-----":
      return (lines.contains { $0.hasPrefix("Proc-Type:") } ? .encrypted : .usable, nil)
    case "-----BEGIN PRIVATE KEY-----": return (.usable, nil)
    default: return (.unknown, nil)
    }
  }

  /// The format of OpenSSH's PROTOCOL.key: magic, cipher, KDF, its options, count, public key.
  private static func lookInside(_ body: [UInt8]) -> (Form, [UInt8]?) {
    let magic = [UInt8]("openssh-key-v1\0".utf8)
    guard body.starts(with: magic) else { return (.unknown, nil) }
    return body.withUnsafeBytes { bytes -> (Form, [UInt8]?) in
      var reader = PacketReader(bytes.dropFirst(magic.count))
      guard let cipher = reader.text(), reader.bytes() != nil, reader.bytes() != nil,
        reader.number() == 1, let blob = reader.bytes(), let key = HostKey(blob: blob)
      else { return (.unknown, nil) }
      if key.type == "ssh-rsa" { return (.rsa, blob) }
      if key.type.hasPrefix("sk-") { return (.securityKey, blob) }
      return (cipher == "none" ? .usable : .encrypted, blob)
    }
  }

  /// Why the file cannot be used now, and what to do about it.
  var obstacle: String? {
    switch form {
    case .usable: nil
    case .encrypted: "\(path) is encrypted: load it into the agent with `ssh-add \(path)`"
    case .rsa:
      "\(path) is an RSA key, which is not supported yet: make another with "
        + "`ssh-keygen -t ed25519` and put it on the host with `ssh-copy-id`"
    case .securityKey: "\(path) needs a security key, which is not supported yet"
    case .unknown: "\(path) is no private key"
    }
  }
}

/// The public key in an `authorized_keys`-like line: `ssh-ed25519 AAAA… comment`.
enum PublicKeyFile {
  static func read(_ path: String, host: String) throws(SSHError) -> [UInt8]? {
    try UserFiles.check(path, host: host)
    guard case .success(let content) = UserFiles.read(path) else { return nil }
    let fields = content.split(whereSeparator: { $0 == 0x20 || $0 == 0x0A })
    guard fields.count >= 2, let data = Data(base64Encoded: Data(fields[1])) else { return nil }
    return HostKey(blob: [UInt8](data))?.blob
  }
}
