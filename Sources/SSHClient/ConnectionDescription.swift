/// What was agreed on with a host while connecting to it, as far as the engine knows: for somebody
/// who wants to see why a connection is as it is. nil is unknown.
public struct ConnectionDescription: Sendable, Equatable {
  /// What carries it, with its version: `libssh2 1.10.0`, `OpenSSH_9.2p1`.
  public var engine: String
  /// Where the bytes go: a numeric address with its port, or what they go through.
  public var way: String?
  /// The account that was logged in to.
  public var user: String?
  /// The server's first line, without `SSH-2.0-`: its software.
  public var serverSoftware: String?
  /// The host key's type and SHA-256 fingerprint, as `ssh-keygen -l` shows it.
  public var hostKey: String?
  /// The key exchange.
  public var keyExchange: String?
  /// The cipher from the host to here.
  public var cipher: String?
  /// The MAC from the host to here; nil also where the cipher has its own.
  public var mac: String?
  /// What the server took to let the user in, step by step; empty where it asked for nothing.
  public var authentication: [String]?

  /// A connection of which only the engine is known.
  public init(engine: String) { self.engine = engine }
}
