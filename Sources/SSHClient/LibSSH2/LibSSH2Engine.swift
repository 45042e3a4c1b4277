/// Makes connections by libssh2.
struct LibSSH2Engine: Sendable {
  let host: HostName
  let options: ConnectionOptions

  private static let bannerPatience = Duration.seconds(10)

  func connect() async throws(SSHError) -> LibSSH2Transport {
    options.onPhase(.configuring)
    let configuration = try await ConfigurationProgram.configuration(
      of: host, file: options.configurationFile)
    let check = HostKeyCheck(
      configuration: configuration, host: host.text, configurationFile: options.configurationFile,
      acceptsNew: options.acceptsNewHostKeys, questions: options.questions)
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
  ) async throws(SSHError) -> LibSSH2Transport {
    let route = try await Route.open(configuration, host: host, options: options)
    let connection: SSHConnection
    do throws(SSHError) {
      connection = try SSHConnection(host: host.text)
    } catch {
      Dialer.discard(route.socket)
      throw error
    }
    do throws(SSHError) {
      options.onPhase(.exchangingKeys)
      let key = try await connection.handshake(
        socket: route.socket, check.algorithms(knownHosts),
        // ssh_config(5): ConnectTimeout is for the banner too.
        bannerDeadline: configuration.connectTimeout ?? Self.bannerPatience)
      options.onPhase(.checkingHostKey)
      try await check.judge(key, knownHosts)
      options.onPhase(.authenticating)
      var authenticator = Authenticator(
        configuration, host: host.text, questions: options.questions,
        stepsAside: options.engine == .auto)
      try await authenticator.authenticate(connection)
      await connection.authenticated()
      options.onPhase(.authenticated)
      return LibSSH2Transport(connection)
    } catch {
      await connection.close()
      throw error
    }
  }
}
