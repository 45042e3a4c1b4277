import TestSupport

/// A type and size of key.
struct KeyKind: Sendable, Equatable {
  var name: String
  /// As `ssh-keygen -t` and `-b` take them.
  var type: String
  var bits: Int?

  static let ed25519 = KeyKind(name: "ed25519", type: "ed25519")
  static let ecdsa256 = KeyKind(name: "ecdsa 256", type: "ecdsa", bits: 256)
  static let ecdsa384 = KeyKind(name: "ecdsa 384", type: "ecdsa", bits: 384)
  static let ecdsa521 = KeyKind(name: "ecdsa 521", type: "ecdsa", bits: 521)
  static let rsa2048 = KeyKind(name: "rsa 2048", type: "rsa", bits: 2048)
  static let rsa3072 = KeyKind(name: "rsa 3072", type: "rsa", bits: 3072)
  static let rsa4096 = KeyKind(name: "rsa 4096", type: "rsa", bits: 4096)
  static let ed25519SecurityKey = KeyKind(name: "ed25519-sk", type: "ed25519-sk")
  static let ecdsaSecurityKey = KeyKind(name: "ecdsa-sk", type: "ecdsa-sk")

  static let ordinary = [ed25519, ecdsa256, ecdsa384, ecdsa521, rsa2048, rsa4096]
  static let securityKeys = [ed25519SecurityKey, ecdsaSecurityKey]

  /// ssh-keygen writes ed25519 keys in OpenSSH's own format whatever it is asked for.
  func canBeStored(as format: KeyFormat) -> Bool { type != "ed25519" || !format.isForeign }
}

/// How a private key is stored; the raw value is what the table says.
enum KeyFormat: String, Sendable, CaseIterable {
  case plain = "plain"
  case ctr = "encrypted with aes256-ctr"
  case cbc = "encrypted with aes256-cbc"
  case gcm = "encrypted with aes256-gcm"
  case pem = "PEM"
  case encryptedPEM = "encrypted PEM"
  case pkcs8 = "PKCS8"
  case encryptedPKCS8 = "encrypted PKCS8"

  var isForeign: Bool {
    switch self {
    case .plain, .ctr, .cbc, .gcm: false
    case .pem, .encryptedPEM, .pkcs8, .encryptedPKCS8: true
    }
  }

  /// What makes ssh-keygen store a plain key so. One round of bcrypt in place of 16: a passphrase
  /// is tried hundreds of times, and none of them is about its strength.
  func arguments(passphrase: String) -> [String]? {
    switch self {
    case .plain: nil
    case .ctr: ["-Z", "aes256-ctr", "-a", "1", "-N", passphrase]
    case .cbc: ["-Z", "aes256-cbc", "-a", "1", "-N", passphrase]
    case .gcm: ["-Z", "aes256-gcm@openssh.com", "-a", "1", "-N", passphrase]
    case .pem: ["-m", "PEM", "-N", ""]
    case .encryptedPEM: ["-m", "PEM", "-N", passphrase]
    case .pkcs8: ["-m", "PKCS8", "-N", ""]
    case .encryptedPKCS8: ["-m", "PKCS8", "-N", passphrase]
    }
  }
}

/// The keys of all rows. Each is made once, when the first row needs it; those in other formats are
/// the same key, so that a server must know one for all.
actor Keyring {
  static let passphrase = "open sesame"

  private let folder: TemporaryFolder
  /// OpenSSH's middleware for security keys without hardware; nil where there is none.
  nonisolated let securityKeyProvider: String?
  private var making: [String: Task<String, any Error>] = [:]

  init(securityKeyProvider: String?) throws {
    folder = try TemporaryFolder("keys")
    self.securityKeyProvider = securityKeyProvider
  }

  /// The path of a key pair; `purpose` tells apart those that must differ.
  func key(
    _ kind: KeyKind, _ format: KeyFormat = .plain, for purpose: String = "login"
  ) async throws -> String {
    let stem = "\(purpose) \(kind.name)".split(separator: " ").joined(separator: "-")
    let plain = try await once(stem) { [provider = securityKeyProvider] path in
      let size = kind.bits.map { ["-b", "\($0)"] } ?? []
      let middleware = KeyKind.securityKeys.contains(kind) ? ["-w", provider ?? "none"] : []
      try await Command(
        "ssh-keygen",
        ["-q", "-t", kind.type, "-N", "", "-C", stem, "-f", path] + size + middleware
      ).succeed()
    }
    guard let conversion = format.arguments(passphrase: Self.passphrase) else { return plain }
    return try await once("\(stem)-\(format)") { path in
      for end in ["", ".pub"] { try writeFile(path + end, readFile(plain + end)) }
      try await Command("ssh-keygen", ["-q", "-p", "-f", path] + conversion).succeed()
    }
  }

  /// A key that no server knows, with a certificate for `user` beside it.
  func certified(_ kind: KeyKind, for user: String) async throws -> String {
    let authority = try await self.authority()
    let path = try await key(kind, for: "certified")
    _ = try await once("certificate-\(kind.name)") { _ in
      try await Command(
        "ssh-keygen", ["-q", "-s", authority, "-I", "matrix", "-n", user, "\(path).pub"]
      ).succeed()
    }
    return path
  }

  /// The key that signs certificates.
  func authority() async throws -> String { try await key(.ed25519, for: "authority") }

  private func once(
    _ name: String, _ make: @escaping @Sendable (String) async throws -> Void
  ) async throws -> String {
    let path = folder[name]
    if let task = making[name] { return try await task.value }
    let task = Task {
      try await make(path)
      return path
    }
    making[name] = task
    return try await task.value
  }
}
