#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension OpenSSHConnection {
  /// As with libssh2: who chooses the engine must not choose what works.
  private static let commandLimit = 30_000

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

  // MARK: Writing

  func write(_ bytes: [UInt8], to id: Int) async throws(SSHError) {
    guard let channel = channels[id] else { throw gone }
    var rest = bytes[...]
    channel.writers += 1
    defer { channel.writers -= 1 }
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

  var gone: SSHError {
    failure ?? SSHError(.transfer, .cancelled, host: host, "The channel was let go of")
  }
}
