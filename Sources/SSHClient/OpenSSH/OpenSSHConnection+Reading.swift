extension OpenSSHConnection {
  /// How long after the streams' end the server may take to say how the command ended.
  private static let exitPatience = Duration.seconds(10)

  func read(_ id: Int) async throws(SSHError) -> RemoteOutput {
    guard let channel = channels[id] else { throw gone }
    channel.readers += 1
    defer { channel.readers -= 1 }
    return try await perform(expired: { self.gone }) {
      self.channels[id] == nil ? .failure(self.gone) : self.readOnce(channel)
    }
  }

  private func readOnce(_ channel: MuxChannel) -> Result<RemoteOutput, SSHError>? {
    let first = channel.nextStream
    for stream in [first, first == .output ? .errors : .output] {
      guard case .done(let bytes) = channel.child.read(stream) else { continue }
      channel.nextStream = stream == .output ? .errors : .output
      return .success(stream == .output ? .standardOutput(bytes) : .standardError(bytes))
    }
    if channel.child.isOpen(.output) || channel.child.isOpen(.errors) { return nil }
    guard channel.exit == nil else { return .success(.endOfFile) }
    channel.exit = fate(channel)
    return channel.exit == nil ? nil : .success(.endOfFile)
  }

  /// How the command ended, once that is known: a link that was lost must not look like an end.
  private func fate(_ channel: MuxChannel) -> RemoteExit? {
    let since = channel.streamsEndedAt ?? .now
    channel.streamsEndedAt = since
    guard channel.child.hasEnded else {
      return since + Self.exitPatience < .now ? .unknown : nil
    }
    if let status = channel.status { return .code(status) }
    // A signal's name does not reach us, and a server may send neither.
    return masterLives(channel) == true ? .unknown : nil
  }

  /// Asks the master itself; nil until the answer is there.
  func masterLives(_ channel: MuxChannel) -> Bool? {
    if let lives = channel.masterLives { return lives }
    guard !channel.isAskingMaster else { return nil }
    channel.isAskingMaster = true
    let (check, host) = (arguments.check(folder), host)
    Task {
      let expired = SSHError(.open, .timedOut, host: host, "ssh -O check did not end")
      let lives: Bool
      do {
        lives = try await onOwnThread(deadline: .seconds(6), expired: expired) {
          switch ChildProcess.run(check[0], Array(check.dropFirst()), limit: .seconds(5)) {
          case .success(let output): .success(output.exitCode == 0)
          case .failure: .success(false)
          }
        }
      } catch {
        lives = false
      }
      channel.masterLives = lives
      // It has ended, or it will never answer anybody again.
      if !lives {
        readLog()
        fail(log.failure(host: host))
      }
    }
    return nil
  }

  func exit(_ id: Int) -> RemoteExit { channels[id]?.exit ?? .unknown }
}
