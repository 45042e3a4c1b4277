/// Makes connections by the system's `ssh`: whatever its configuration, keys and algorithms can do.
struct OpenSSHEngine: Sendable {
  let host: HostName
  let options: ConnectionOptions
  let program: SSHProgram

  func connect() async throws(SSHError) -> OpenSSHTransport {
    options.onPhase(.configuring)
    let settings = try await program.settings(of: host, file: options.configurationFile)
    let asksNobody = settings["batchmode"]?.first == "yes"
    let connection = try OpenSSHConnection(
      MasterArguments(
        host: host, program: program, settings: settings,
        configurationFile: options.configurationFile,
        acceptsNewHostKeys: options.acceptsNewHostKeys,
        mayAsk: options.questions != nil && !asksNobody),
      options)
    guard await HandshakeSlots.shared.take() else {
      await connection.close()
      throw .cancelled(host: host.text)
    }
    do throws(SSHError) {
      try await connection.start()
    } catch {
      await HandshakeSlots.shared.giveBack()
      await connection.close()
      throw error
    }
    await HandshakeSlots.shared.giveBack()
    return OpenSSHTransport(connection, engine: program.name)
  }
}
