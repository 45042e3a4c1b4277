/// Makes connections by the system's `ssh`: whatever its configuration, keys and algorithms can do.
struct OpenSSHEngine: Sendable {
  let host: HostName
  let options: ConnectionOptions
  let program: SSHProgram

  func connect() async throws(SSHError) -> EngineTransport<OpenSSHConnection> {
    options.onPhase(.configuring)
    let settings = try await program.settings(of: host, file: options.configurationFile)
    let arguments = MasterArguments(
      host: host, program: program, settings: settings,
      configurationFile: options.configurationFile,
      acceptsNewHostKeys: options.acceptsNewHostKeys,
      mayAsk: options.questions != nil && !settings.flag("batchmode"))
    guard await HandshakeSlots.shared.take() else { throw .cancelled(host: host.text) }
    do throws(SSHError) {
      let connection = try await logIn(arguments)
      await HandshakeSlots.shared.giveBack()
      let agreement = await connection.log.agreement.described(engine: program.name)
      return EngineTransport(connection, agreement)
    } catch {
      await HandshakeSlots.shared.giveBack()
      throw error
    }
  }

  private func logIn(_ arguments: MasterArguments) async throws(SSHError) -> OpenSSHConnection {
    let connection = try OpenSSHConnection(arguments, options)
    do throws(SSHError) {
      try await connection.start()
      return connection
    } catch {
      let wasTooSlow = await connection.log.wasTooSlow
      await connection.close()
      guard wasTooSlow, let patient = arguments.withPatience else { throw error }
      return try await logIn(patient)
    }
  }
}
