/// Makes connections to one host as the user's own ssh configuration describes it.
public struct SSHConnector: Connector {
  /// The host as the user names it.
  public var hostName: String { host.text }

  private let host: HostName
  private let options: ConnectionOptions

  /// - Parameter host: a name of ssh_config, or `user@name:port`.
  /// - Throws: `SSHError` kind `.badConfiguration` when the text is no host name.
  public init(host: String, options: ConnectionOptions) throws(SSHError) {
    self.host = try HostName(host)
    self.options = options
  }

  /// Connects and authenticates.
  ///
  /// - Throws: `SSHError`; its phase says how far it came.
  public func connect() async throws(SSHError) -> any Transport {
    try await LibSSH2Engine(host: host, options: options).connect()
  }
}
