/// Makes libssh2 connections to one host as the user's own ssh configuration describes it.
public struct SSHConnector: Connector {
  /// The host as the user names it.
  public var hostName: String { host.text }

  private let host: HostName
  private let configurationFile: String?
  private let acceptsNewHostKeys: Bool
  private let ask: (@Sendable (HostKeyQuestion) async -> Bool)?
  private let onPhase: @Sendable (ConnectionPhase) -> Void

  /// - Parameters:
  ///   - host: a name of ssh_config, or `user@name:port`.
  ///   - configurationFile: as ssh's `-F`; nil for the user's own configuration, which is refused
  ///     in a process with `POCKET_TESTING` in its environment.
  ///   - acceptNewHostKeys: takes and records the key of a host of which none is known.
  ///   - ask: shows the fingerprint of an unknown host key and answers whether the user confirms
  ///     it; nil when there is nobody to ask.
  ///   - onPhase: called when a phase begins, on no particular thread; it must return at once.
  /// - Throws: `SSHError` kind `.badConfiguration` when the text is no host name.
  public init(
    host: String, configurationFile: String? = nil, acceptNewHostKeys: Bool = false,
    ask: (@Sendable (HostKeyQuestion) async -> Bool)? = nil,
    onPhase: @escaping @Sendable (ConnectionPhase) -> Void = { _ in }
  ) throws(SSHError) {
    self.host = try HostName(host)
    self.configurationFile = configurationFile
    acceptsNewHostKeys = acceptNewHostKeys
    self.ask = ask
    self.onPhase = onPhase
  }

  private static let resolvePatience = Duration.seconds(10)
  private static let connectPatience = Duration.seconds(15)

  /// Connects and authenticates with the first key that the server takes.
  ///
  /// - Throws: `SSHError`; its phase says how far it came.
  public func connect() async throws(SSHError) -> any Transport {
    onPhase(.configuring)
    let configuration = try await ConfigurationProgram.configuration(
      of: host, file: configurationFile)
    let check = HostKeyCheck(
      configuration: configuration, host: host.text, configurationFile: configurationFile,
      acceptsNew: acceptsNewHostKeys, ask: ask)
    let knownHosts = try await check.loadKnownHosts()
    guard await HandshakeSlots.shared.take() else { throw .cancelled(host: host.text) }
    do throws(SSHError) {
      let transport = try await connect(configuration, check, knownHosts)
      await HandshakeSlots.shared.giveBack()
      return transport
    } catch {
      await HandshakeSlots.shared.giveBack()
      throw error
    }
  }

  private func connect(
    _ configuration: HostConfiguration, _ check: HostKeyCheck, _ knownHosts: KnownHosts
  ) async throws(SSHError) -> any Transport {
    let dialer = Dialer(
      host: host.text, name: configuration.hostName, port: configuration.port,
      family: configuration.addressFamily)
    onPhase(.resolving)
    let addresses = try await dialer.resolve(deadline: Self.resolvePatience)
    onPhase(.connecting)
    let socket = try await dialer.connect(
      addresses, deadline: configuration.connectTimeout ?? Self.connectPatience)
    let connection: SSHConnection
    do throws(SSHError) {
      connection = try SSHConnection(host: host.text)
    } catch {
      Dialer.discard(socket)
      throw error
    }
    do throws(SSHError) {
      onPhase(.exchangingKeys)
      let key = try await connection.handshake(
        socket: socket, check.algorithms(knownHosts))
      onPhase(.checkingHostKey)
      try await check.judge(key, knownHosts)
      onPhase(.authenticating)
      var authenticator = Authenticator(configuration, host: host.text)
      try await authenticator.authenticate(connection)
      await connection.authenticated()
      onPhase(.authenticated)
      return LibSSH2Transport(connection)
    } catch {
      await connection.close()
      throw error
    }
  }
}

/// A step of making a connection.
public enum ConnectionPhase: Sendable, Equatable {
  case configuring, resolving, connecting, exchangingKeys, checkingHostKey, authenticating
  /// Nothing of any command has been sent yet.
  case authenticated
}
