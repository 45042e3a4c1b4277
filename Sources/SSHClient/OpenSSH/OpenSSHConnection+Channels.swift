#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension OpenSSHConnection {
  /// As with libssh2: who chooses the engine must not choose what works.
  private static let commandLimit = 30_000
  /// How long after the streams' end the server may take to say how the command ended.
  private static let exitPatience = Duration.seconds(10)

  // MARK: Opening

  /// Starts `command` on a channel of its own.
  func execute(_ command: String, deadline: Duration) async throws(SSHError) -> Int {
    if let failure { throw failure }
    let size = command.utf8.count
    guard size <= Self.commandLimit, !command.utf8.contains(0) else {
      throw SSHError(
        .open, .refused, host: host,
        size > Self.commandLimit
          ? "The command has \(size) bytes; a request takes \(Self.commandLimit)"
          : "The command holds a zero byte, which no argument can")
    }
    if Task.isCancelled { throw .cancelled(host: host) }
    lastChannel += 1
    let id = lastChannel
    let channel: MuxChannel
    do throws(SystemError) {
      channel = try MuxChannel(id, command, arguments, folder)
    } catch {
      throw SSHError(.open, .badConfiguration, host: host, "Cannot start ssh: \(error.words)")
    }
    channels[id] = channel
    do throws(SSHError) {
      try await perform(
        deadline: .now + deadline,
        expired: {
          SSHError(
            .open, .timedOut, host: self.host,
            "The server did not start the command within \(deadline)")
        }
      ) {
        if channel.isConfirmed { return .success(()) }
        guard channel.child.hasEnded else { return nil }
        // It may have come and gone between the two looks.
        return channel.isConfirmed ? .success(()) : self.refusal(channel)
      }
    } catch {
      park(id)
      throw error
    }
    channel.isOpening = false
    hasOpened = true
    return id
  }

  /// Why an `ssh` ended without a channel; nil while it is not known yet.
  private func refusal(_ channel: MuxChannel) -> Result<Void, SSHError>? {
    readLog()
    let others = channels.count - 1
    if channel.words.contains("refused by peer") {
      let words = log.refusedOpening ?? channel.words
      return .failure(
        // One that has opened channels counts some that were let go of and have not ended there.
        others == 0 && !hasOpened
          ? SSHError(.open, .refused, host: host, "The server opens no channel: \(words)")
          : SSHError(
            .open, .tooManyChannels, host: host,
            "The server opens no channel beside the \(others) open ones: \(words)"))
    }
    guard let lives = masterLives(channel) else { return nil }
    // A master that is gone is noticed by the turn, with its own words.
    guard lives else { return nil }
    return .failure(SSHError(.open, .unreachable, host: host, channel.words))
  }

  // MARK: Reading

  func read(_ id: Int) async throws(SSHError) -> RemoteOutput {
    guard let channel = channels[id] else { throw gone }
    channel.isReading = true
    defer { channel.isReading = false }
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
  private func masterLives(_ channel: MuxChannel) -> Bool? {
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

  // MARK: Writing

  func write(_ bytes: [UInt8], to id: Int) async throws(SSHError) {
    guard let channel = channels[id] else { throw gone }
    var rest = bytes[...]
    channel.isWriting = true
    defer { channel.isWriting = false }
    try await perform(expired: { self.gone }) { () -> Result<Void, SSHError>? in
      guard self.channels[id] != nil else { return .failure(self.gone) }
      while !rest.isEmpty {
        switch channel.child.write(rest) {
        case .done(let count): rest = rest.dropFirst(count)
        case .notYet: return nil
        case .ended:
          return .failure(
            SSHError(
              .transfer, .refused, host: self.host, "The command takes no more input"))
        }
      }
      return .success(())
    }
  }

  func closeStandardInput(_ id: Int) throws(SSHError) {
    if let failure { throw failure }
    guard let channel = channels[id] else { throw gone }
    channel.child.close(.input)
  }

  // MARK: Ending

  /// Lets go of the channel; the server ends it when its command does.
  func park(_ id: Int) { channels.removeValue(forKey: id)?.end() }

  private var gone: SSHError {
    failure ?? SSHError(.transfer, .cancelled, host: host, "The channel was let go of")
  }
}
