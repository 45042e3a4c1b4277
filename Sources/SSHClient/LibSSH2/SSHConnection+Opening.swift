import CSSH2

extension SSHConnection {
  private static let packetSize: UInt32 = 32768
  /// libssh2 1.10 cannot send a request much longer.
  private static let commandLimit = 30_000

  /// Opens a channel and starts `command` on it.
  func execute(_ command: String, deadline: Duration) async throws(SSHError) -> UInt32 {
    let bytes = [UInt8](command.utf8)
    guard bytes.count <= Self.commandLimit else {
      throw SSHError(
        .open, .refused, host: host,
        "The command has \(bytes.count) bytes; a request takes \(Self.commandLimit)")
    }
    let end = ContinuousClock.now + deadline
    let expired = SSHError(
      .open, .timedOut, host: host, "The server did not start the command within \(deadline)")
    let id = try await openChannel(.session, end, expired)
    // What nobody waits for any more is not started, as long as that can be helped.
    if Task.isCancelled {
      park(id)
      throw .cancelled(host: host)
    }
    for variable in environment { try await set(variable, on: id, end, expired) }
    let code = try await request(on: id, end, expired) { channel in
      bytes.withUnsafeBytes {
        libssh2_channel_process_startup(
          channel, "exec", 4, $0.baseAddress?.assumingMemoryBound(to: CChar.self),
          UInt32($0.count))
      }
    }
    if code == 0 { return id }
    park(id)
    throw SSHError(.open, .refused, host: host, "The server refused to run a command")
  }

  private func set(
    _ variable: RemoteEnvironment.Variable, on id: UInt32, _ end: ContinuousClock.Instant,
    _ expired: SSHError
  ) async throws(SSHError) {
    let code = try await request(on: id, end, expired) { channel in
      variable.name.withUnsafeBytes { name in
        variable.value.withUnsafeBytes { value in
          libssh2_channel_setenv_ex(
            channel, name.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(name.count),
            value.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(value.count))
        }
      }
    }
    if code != 0 { environment.removeAll { $0 == variable } }
  }

  /// Sends a channel request and waits for the answer: 0, or libssh2's code for a refusal. After any
  /// other error nobody has the channel any more.
  private func request(
    on id: UInt32, _ end: ContinuousClock.Instant, _ expired: SSHError,
    _ send: @escaping (OpaquePointer) -> Int32
  ) async throws(SSHError) -> Int32 {
    try await perform(
      channel: nil, deadline: end, expired: expired, outlivesWaiter: { true },
      unwanted: { _ in self.park(id) }
    ) { operation in
      guard let channel = self.channels[id] else { return .failure(self.gone) }
      if self.requestingOperation != operation, !self.isWatched(operation) {
        return .failure(.cancelled(host: self.host))
      }
      // A reply to another channel's request would end the wait for this one's with an error.
      if let other = self.requestingOperation, other != operation { return nil }
      self.requestingOperation = operation
      let code = send(channel.pointer)
      if code == LIBSSH2_ERROR_EAGAIN { return nil }
      self.requestingOperation = nil
      self.wake()
      switch code {
      case 0, LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED, LIBSSH2_ERROR_CHANNEL_FAILURE:
        return .success(code)
      default:
        let error = self.lost(code)
        self.fail(error)
        return .failure(error)
      }
    }
  }

  /// What a channel is for.
  enum ChannelKind {
    /// A command.
    case session
    /// RFC 4254 §7.2: a connection that the server makes to another host. `from` is what errors
    /// call the server, `host` the host at the other end.
    case forward(to: String, port: UInt16, from: String, for: String)
  }

  func openChannel(
    _ kind: ChannelKind, _ end: ContinuousClock.Instant, _ expired: SSHError
  ) async throws(SSHError) -> UInt32 {
    let (type, message) = kind.request
    return try await perform(
      deadline: end, expired: expired, outlivesWaiter: { true },
      unwanted: { if case .success(let id) = $0 { self.park(id) } }
    ) { operation in
      guard let session = self.session, let wire = self.wire else { return .failure(self.gone) }
      if self.openingOperation != operation, !self.isWatched(operation) {
        return .failure(.cancelled(host: self.host))
      }
      // libssh2 has room for one opening per session.
      if let other = self.openingOperation, other != operation { return nil }
      self.openingOperation = operation
      let opened = message.withUnsafeBytes {
        libssh2_channel_open_ex(
          session, type, UInt32(type.utf8.count), Self.window, Self.packetSize,
          $0.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32($0.count))
      }
      if let pointer = opened {
        self.openingOperation = nil
        self.wake()
        guard let id = wire.witness.confirmedChannel else { return .failure(self.gone) }
        self.channels[id] = Channel(pointer: pointer, id: id)
        self.hasOpenedChannel = true
        return .success(id)
      }
      let code = libssh2_session_last_errno(session)
      if code == LIBSSH2_ERROR_EAGAIN { return nil }
      self.openingOperation = nil
      self.wake()
      return .failure(self.openingFailed(kind, code, wire))
    }
  }

  private func openingFailed(_ kind: ChannelKind, _ code: Int32, _ wire: Wire) -> SSHError {
    guard code == LIBSSH2_ERROR_CHANNEL_FAILURE else {
      let error = lost(code)
      fail(error)
      return error
    }
    let words = wire.witness.openFailure?.words ?? lastWords
    if case .forward(let name, let port, let hop, let target) = kind {
      // RFC 4254 §5.1: 2 is SSH_OPEN_CONNECT_FAILED; the hop itself is willing.
      let isWilling = wire.witness.openFailure?.reason == 2
      return SSHError(
        .connect, isWilling ? .unreachable : .refused, host: target,
        "The hop \(hop) makes no connection to \(name):\(port): \(words)",
        advice: isWilling ? nil : "Its sshd_config may forbid it: AllowTcpForwarding, PermitOpen")
    }
    let open = channels.count + parked.count
    // sshd counts a session until its command has ended, which may be after the channel's close.
    if open == 0, !hasOpenedChannel {
      return SSHError(
        .open, .refused, host: host, "The server opens no channel: \(words)")
    }
    return SSHError(
      .open, .tooManyChannels, host: host,
      "The server opens no further channel beside the \(open) open ones: \(words)")
  }
}

extension SSHConnection.ChannelKind {
  /// RFC 4254 §5.1: the channel's type, and what follows the numbers of its request.
  fileprivate var request: (type: String, message: [UInt8]) {
    guard case .forward(let name, let port, _, _) = self else { return ("session", []) }
    var message = PacketWriter()
    message.text(name)
    message.number(UInt32(port))
    // Who asked for the connection: nobody but this process.
    message.text("127.0.0.1")
    message.number(0)
    return ("direct-tcpip", message.bytes)
  }
}
