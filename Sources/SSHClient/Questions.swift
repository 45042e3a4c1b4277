/// Asks the user at the terminal what only they know.
public struct Questions: Sendable {
  /// Shows the fingerprint of an unknown host key; answers whether the user confirms it.
  public var confirmHostKey: @Sendable (HostKeyQuestion) async -> Bool
  /// Asks for a passphrase, a password or an answer to the server's question; nil when the user
  /// gives none.
  public var secret: @Sendable (SecretQuestion) async -> [UInt8]?

  /// Both are called on no particular thread, one at a time for a connection.
  public init(
    confirmHostKey: @escaping @Sendable (HostKeyQuestion) async -> Bool,
    secret: @escaping @Sendable (SecretQuestion) async -> [UInt8]?
  ) {
    (self.confirmHostKey, self.secret) = (confirmHostKey, secret)
  }
}

/// A host key that nobody has confirmed yet.
public struct HostKeyQuestion: Sendable, Equatable {
  /// The host as the user names it.
  public var host: String
  /// As OpenSSH names it: `ED25519`, `ECDSA`, `RSA`.
  public var keyType: String
  /// As `ssh-keygen -l` shows it: `SHA256:…`.
  public var fingerprint: String
  /// Key types that are known for this host already (`ssh-ed25519`, …): then an unknown key is
  /// suspicious.
  public var otherKnownTypes: [String]
}

/// Something that only the user can type.
public struct SecretQuestion: Sendable, Equatable {
  /// The host as the user names it.
  public var host: String
  /// What to show, without the space behind it. A server's own words are made harmless by whoever
  /// shows them.
  public var prompt: String
  /// Whether what is typed may be seen: some questions of a server are not about secrets.
  public var isVisible: Bool
}
