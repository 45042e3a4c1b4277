import CSSH2

extension SSHConnection {
  /// The window of a channel, and so the most that lies unread here: what a link with 50 ms of
  /// delay needs to be full (2 MiB give 31 MB/s there, 4 MiB 51, 8 MiB no more).
  static let window: UInt32 = 4 << 20
  private static let readLimit = 256 << 10
  /// libssh2 itself adds to a window that is below three quarters plus the read's size, but loses
  /// data when such a call must be repeated (new keys are being exchanged) and comes back with
  /// another size. So the window is kept above that here, with one and the same amount until done.
  private static let windowFloor = window / 4 * 3 + UInt32(readLimit)
  /// How long after the streams' end the server may take to say how the command ended.
  private static let exitPatience = Duration.seconds(10)

  var gone: SSHError {
    failure ?? SSHError(.transfer, .cancelled, host: host, "The channel was let go of")
  }

  private func fate(_ id: UInt32) -> PacketWitness.Channel? { wire?.witness.channels[id] }

  // MARK: Reading

  func read(_ id: UInt32) async throws(SSHError) -> RemoteOutput {
    try await perform(channel: id, deadline: nil, expired: gone) { _ in self.readOnce(id) }
  }

  func readOnce(_ id: UInt32) -> Result<RemoteOutput, SSHError>? {
    guard let channel = channels[id] else { return .failure(gone) }
    // With no room in the buffer libssh2 only takes in what the socket has.
    var nothing: CChar = 0
    let code = libssh2_channel_read_ex(channel.pointer, 0, &nothing, 0)
    if code < 0, code != Int(LIBSSH2_ERROR_EAGAIN) { return failed(code) }
    var available: UInt = 0
    let left = libssh2_channel_window_read_ex(channel.pointer, &available, nil)
    if available > 0 {
      switch topUpWindow(channel, left: UInt32(clamping: left)) {
      case 0: break
      case LIBSSH2_ERROR_EAGAIN: return nil
      case let code: return failed(Int(code))
      }
      for stream in [channel.nextStream, 1 - channel.nextStream] {
        switch readStream(stream, channel, Int(available)) {
        case .success(let bytes) where bytes.isEmpty: continue
        case .success(let bytes):
          channel.nextStream = 1 - stream
          return .success(stream == 0 ? .standardOutput(bytes) : .standardError(bytes))
        case .failure(let error): return .failure(error)
        }
      }
    }
    let isOver = libssh2_channel_eof(channel.pointer) == 1 || fate(id)?.isClosed == true
    return isOver ? .success(.endOfFile) : nil
  }

  private func topUpWindow(_ channel: Channel, left: UInt32) -> Int32 {
    if channel.windowIncrement == 0 {
      guard left < Self.windowFloor else { return 0 }
      channel.windowIncrement = Self.window - left
    }
    let code = libssh2_channel_receive_window_adjust2(
      channel.pointer, UInt(channel.windowIncrement), 1, nil)
    if code != LIBSSH2_ERROR_EAGAIN { channel.windowIncrement = 0 }
    return code
  }

  private func readStream(
    _ stream: Int32, _ channel: Channel, _ available: Int
  ) -> Result<[UInt8], SSHError> {
    var code = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: min(available, Self.readLimit)) {
      buffer, count in
      buffer.withMemoryRebound(to: CChar.self) {
        code = libssh2_channel_read_ex(channel.pointer, stream, $0.baseAddress, $0.count)
      }
      count = max(code, 0)
    }
    if code < 0, code != Int(LIBSSH2_ERROR_EAGAIN) { return failed(code) }
    return .success(bytes)
  }

  private func failed<Value>(_ code: Int) -> Result<Value, SSHError> {
    let error = lost(Int32(code))
    fail(error)
    return .failure(error)
  }

  // MARK: Writing

  func write(_ bytes: [UInt8], to id: UInt32) async throws(SSHError) {
    var offset = 0
    try await perform(
      channel: id, deadline: nil, expired: gone,
      outlivesWaiter: { self.channels[id]?.isWriteInFlight == true }
    ) { operation -> Result<Void, SSHError>? in
      guard let channel = self.channels[id], let wire = self.wire else {
        return .failure(self.gone)
      }
      if let other = channel.writer, other != operation, self.isPending(other) { return nil }
      channel.writer = operation
      while offset < bytes.count, channel.isWriteInFlight || self.isWatched(operation) {
        if self.fate(id)?.isClosed == true {
          channel.writer = nil
          return .failure(self.noInput)
        }
        // What the socket has not taken yet is not to grow.
        if wire.hasUnsentBytes { return nil }
        let code = bytes.withUnsafeBytes {
          libssh2_channel_write_ex(
            channel.pointer, 0,
            ($0.baseAddress! + offset).assumingMemoryBound(to: CChar.self), $0.count - offset)
        }
        channel.isWriteInFlight = code == Int(LIBSSH2_ERROR_EAGAIN)
        if channel.isWriteInFlight || code == 0 { return nil }
        switch Int32(clamping: code) {
        case LIBSSH2_ERROR_CHANNEL_CLOSED, LIBSSH2_ERROR_CHANNEL_EOF_SENT:
          channel.writer = nil
          return .failure(self.noInput)
        case ..<0: return self.failed(code)
        default: offset += code
        }
      }
      channel.writer = nil
      self.wake()
      return .success(())
    }
  }

  private var noInput: SSHError {
    SSHError(.transfer, .refused, host: host, "The command takes no more input")
  }

  func closeStandardInput(_ id: UInt32) async throws(SSHError) {
    try await perform(channel: id, deadline: nil, expired: gone) { _ -> Result<Void, SSHError>? in
      guard let channel = self.channels[id] else { return .failure(self.gone) }
      if channel.hasSentEndOfFile || self.fate(id)?.isClosed == true { return .success(()) }
      if let writer = channel.writer, self.isPending(writer) { return nil }
      let code = libssh2_channel_send_eof(channel.pointer)
      if code == LIBSSH2_ERROR_EAGAIN { return nil }
      if code < 0 { return self.failed(Int(code)) }
      channel.hasSentEndOfFile = true
      return .success(())
    }
  }

  // MARK: The end of a channel

  /// How the command ended. The status may come after the streams' end, so the server's close is
  /// waited for; what it did not say is unknown.
  func exit(_ id: UInt32) async -> RemoteExit {
    guard channels[id] != nil else { return .unknown }
    let expired = SSHError(.transfer, .timedOut, host: host, "no close")
    do {
      try await perform(
        channel: id, deadline: .now + Self.exitPatience, expired: expired
      ) { _ -> Result<Void, SSHError>? in
        guard self.channels[id] != nil else { return .failure(self.gone) }
        return self.fate(id)?.isClosed == true ? .success(()) : nil
      }
    } catch {
      // The deadline or a cancelled task: what was said so far counts, if the link still stands.
    }
    guard failure == nil, let fate = fate(id) else { return .unknown }
    if fate.isClosed { park(id) }
    if let signal = fate.exitSignal { return .signal(signal) }
    return fate.exitStatus.map { .code(Int($0)) } ?? .unknown
  }

  /// Nobody uses the channel any more.
  func park(_ id: UInt32) {
    endOperations(of: id, SSHError(.transfer, .cancelled, host: host, "The channel was let go of"))
    guard let channel = channels.removeValue(forKey: id) else { return }
    parked.append(channel)
    wake()
  }

  /// Closes parked channels as far as that goes without waiting. libssh2's close and free end only
  /// when the server has closed too, which a running command may put off for ever.
  func reapParkedChannels() {
    parked.removeAll { channel in
      let isClosed = fate(channel.id)?.isClosed == true
      let code = libssh2_channel_close(channel.pointer)
      guard isClosed, code != LIBSSH2_ERROR_EAGAIN else { return false }
      if spare == nil, canServeAsSpare(channel) {
        spare = channel
      } else if libssh2_channel_free(channel.pointer) == LIBSSH2_ERROR_EAGAIN {
        return false
      }
      wire?.witness.channels[channel.id] = nil
      return true
    }
  }

  /// It must not hold memory, nor make libssh2 send a window adjustment when it is read through:
  /// the server may have given its number to another channel.
  private func canServeAsSpare(_ channel: Channel) -> Bool {
    var available: UInt = 0
    let left = libssh2_channel_window_read_ex(channel.pointer, &available, nil)
    return available == 0 && left >= UInt(Self.window) / 4 * 3
  }
}
