/// Makes connections by libssh2.
struct LibSSH2Engine: Sendable {
  let host: HostName
  var options: ConnectionOptions
  /// The hops that the ProxyJump of a host behind this one names before it. With none, the host's
  /// own configuration decides, as for ssh.
  var jumps: [HostName] = []
  /// The hosts for whose sake this one is connected to, nearest last.
  var behind: [HostName] = []

  private static let bannerPatience = Duration.seconds(10)
  /// Nobody has so many; a configuration that goes round in circles has more.
  private static let hopLimit = 16

  func connect() async throws(SSHError) -> EngineTransport<SSHConnection> {
    let (connection, agreement, _) = try await reach()
    return EngineTransport(connection, agreement)
  }

  /// An authenticated connection, what was agreed on, and how many others carry it.
  private func reach() async throws(SSHError) -> (
    connection: SSHConnection, agreement: ConnectionDescription, hops: Int
  ) {
    options.onPhase(.configuring)
    let configuration = try await ConfigurationProgram.configuration(
      of: host, jumps: jumps, file: options.configurationFile)
    let check = HostKeyCheck(configuration: configuration, host: host, options: options)
    let knownHosts = try await check.loadKnownHosts()
    // Before a slot is taken: with each of four slots held by a host whose hop waits for one,
    // nobody would go on.
    let hop = try await connectHop(configuration)
    guard await HandshakeSlots.shared.take() else {
      await hop?.close()
      throw .cancelled(host: host.text)
    }
    do throws(SSHError) {
      let (connection, agreement) = try await connect(configuration, check, knownHosts, hop)
      await HandshakeSlots.shared.giveBack()
      return (connection, agreement, hop?.hops ?? 0)
    } catch {
      await HandshakeSlots.shared.giveBack()
      await hop?.close()
      throw error
    }
  }

  private func connectHop(_ configuration: HostConfiguration) async throws(SSHError) -> Hop? {
    guard case .jump(let words) = configuration.network.proxy else { return nil }
    var hops: [HostName] = []
    for word in words { hops.append(try HostName(jump: word, to: host, configuration)) }
    let path = behind + [host]
    guard let nearest = hops.popLast(), path.count <= Self.hopLimit else {
      throw SSHError(
        .configuration, .badConfiguration, host: (path.first ?? host).text,
        "ProxyJump leads through more than \(Self.hopLimit) hops: "
          + path.prefix(4).map(\.text).joined(separator: ", then ") + ", and so on",
        advice: "A hop's own ProxyJump may lead back to the host: give the hop `ProxyJump none`")
    }
    var engine = LibSSH2Engine(host: nearest, options: options)
    (engine.jumps, engine.behind) = (hops, path)
    // The phases are the host's own: that a hop is authenticated says nothing about it.
    engine.options.onPhase = { _ in }
    options.onPhase(.connecting)
    do throws(SSHError) {
      let (connection, _, hops) = try await engine.reach()
      return Hop(connection: connection, name: nearest.text, hops: hops + 1)
    } catch {
      // Once, where the user's own host is known.
      throw behind.isEmpty ? error.onTheWay(to: host.text) : error
    }
  }

  private func connect(
    _ configuration: HostConfiguration, _ check: HostKeyCheck, _ knownHosts: KnownHosts,
    _ hop: Hop?
  ) async throws(SSHError) -> (SSHConnection, ConnectionDescription) {
    let route = try await Route.open(configuration, host: host, hop: hop, options: options)
    let connection: SSHConnection
    do throws(SSHError) {
      connection = try SSHConnection(host: host.text)
    } catch {
      route.discard()
      throw error
    }
    do throws(SSHError) {
      options.onPhase(.exchangingKeys)
      let network = configuration.network
      let key = try await connection.handshake(
        route, check.algorithms(knownHosts),
        Liveness(
          aliveInterval: network.aliveInterval, aliveCount: network.aliveCount,
          hops: hop?.hops ?? 0),
        // ssh_config(5): ConnectTimeout is for the banner too.
        bannerDeadline: network.connectTimeout ?? Self.bannerPatience)
      options.onPhase(.checkingHostKey)
      try await check.judge(
        key, knownHosts, await connection.hostKeyOffers(), address: route.address)
      options.onPhase(.authenticating)
      var authenticator = Authenticator(
        configuration, host: host.text, questions: options.questions,
        stepsAside: options.engine == .auto)
      try await authenticator.authenticate(connection)
      await connection.authenticated(configuration.remoteEnvironment)
      var agreement = await connection.agreement(on: key)
      (agreement.way, agreement.user) = (route.way, configuration.user)
      agreement.authentication = authenticator.record.taken
      options.onPhase(.authenticated)
      return (connection, agreement)
    } catch {
      await connection.close()
      throw await error.explained(by: route.carrier)
    }
  }
}

extension SSHError {
  /// With what the carrier of the route knows about the end of its bytes.
  fileprivate func explained(by carrier: (any Carrier)?) async -> SSHError {
    guard kind == .unreachable || kind == .timedOut, let end = await carrier?.lastWords(),
      !message.contains(end.words)
    else { return self }
    var error = self
    error.message += "; \(end.words)"
    if end.isHopeless { error.kind = .badConfiguration }
    return error
  }
}
