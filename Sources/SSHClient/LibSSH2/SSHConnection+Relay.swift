import CPosix
import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The next connection's bytes, on their way between a socket pair and a channel of a hop.
///
/// Back-pressure goes through in both directions: from each side no more is taken than the other
/// has room for, and what libssh2 holds is bounded by the channel's window.
///
/// Not Sendable: it lives on the hop's thread.
final class Relay {
  let channel: UInt32
  /// Our end of the pair.
  let socket: Int32
  let carrier: HopCarrier
  /// From the socket, not all of it written to the channel yet; and the other way.
  fileprivate var outgoing: ArraySlice<UInt8> = []
  fileprivate var buffer = [UInt8](repeating: 0, count: 64 << 10)
  fileprivate var incoming: ArraySlice<UInt8> = []

  fileprivate init(channel: UInt32, socket: Int32, carrier: HopCarrier) {
    (self.channel, self.socket, self.carrier) = (channel, socket, carrier)
  }

  /// With no events at all, a hang-up is still reported.
  var interest: pollfd {
    var events: Int16 = 0
    if outgoing.isEmpty { events |= Int16(POLLIN) }
    if !incoming.isEmpty { events |= Int16(POLLOUT) }
    return pollfd(fd: socket, events: events, revents: 0)
  }

  fileprivate var isHungUp: Bool {
    var entry = pollfd(fd: socket, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0
  }
}

extension SSHConnection {
  /// Opens a channel from the host of this connection to another one, and carries it to a socket,
  /// which is the caller's. From then on this connection ends with that socket, and the socket with
  /// this connection; `carrier` is told why.
  ///
  /// - Parameter host: what errors call the host at the other end.
  func relay(
    to name: String, port: UInt16, for host: String, _ carrier: HopCarrier, deadline: Duration
  ) async throws(SSHError) -> Int32 {
    let expired = SSHError(
      .connect, .timedOut, host: host,
      "The hop \(carrier.name) made no connection to \(name):\(port) within \(deadline)")
    let kind = ChannelKind.forward(to: name, port: port, from: carrier.name, for: host)
    let id = try await openChannel(kind, .now + deadline, expired)
    var ends: [Int32] = [-1, -1]
    let noPair = pocket_socket_pair(&ends)
    guard noPair == 0 else {
      throw SSHError(
        .connect, .badConfiguration, host: host,
        "No socket pair: \(SystemError(code: noPair).words)")
    }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    relay = Relay(channel: id, socket: ends[0], carrier: carrier)
    wake()
    return ends[1]
  }

  /// Moves what can be moved now.
  func carryRelay() {
    guard let relay else { return }
    carryIncoming(relay)
    if failure == nil { carryOutgoing(relay) }
  }

  private func carryIncoming(_ relay: Relay) {
    while failure == nil {
      while !relay.incoming.isEmpty {
        let count = relay.incoming.withUnsafeBytes { bytes in
          bytes.baseAddress.map { Wire.sendOnce(relay.socket, $0, bytes.count) } ?? 0
        }
        if count < 0 {
          if -count == Int(EAGAIN) { return }
          return close()
        }
        relay.incoming.removeFirst(count)
      }
      switch readOnce(relay.channel) {
      case nil, .failure: return
      case .success(.standardOutput(let bytes)): relay.incoming = bytes[...]
      case .success(.standardError): continue
      case .success(.endOfFile):
        relay.carrier.report("it closed the way to the next host")
        return close()
      }
    }
  }

  private func carryOutgoing(_ relay: Relay) {
    guard let channel = channels[relay.channel], let wire else { return }
    while true {
      if relay.outgoing.isEmpty {
        let count = recv(relay.socket, &relay.buffer, relay.buffer.count, 0)
        if count > 0 {
          relay.outgoing = [UInt8](relay.buffer[..<count])[...]
        } else if count < 0, errno == EAGAIN || errno == EINTR {
          return
        } else {
          // The next connection has ended, and all of its bytes are on their way.
          return close()
        }
      }
      // Nobody takes the bytes now; and perhaps nobody gives them any more.
      if wire.hasUnsentBytes { return relay.isHungUp ? close() : () }
      // After EAGAIN libssh2 wants the same bytes again, so nothing is added to them here.
      let count = relay.outgoing.withUnsafeBytes {
        libssh2_channel_write_ex(
          channel.pointer, 0, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
      }
      switch Int32(clamping: count) {
      case 0, LIBSSH2_ERROR_EAGAIN: return relay.isHungUp ? close() : ()
      case LIBSSH2_ERROR_CHANNEL_CLOSED, LIBSSH2_ERROR_CHANNEL_EOF_SENT:
        relay.carrier.report("it closed the way to the next host")
        return close()
      case ..<0: return fail(lost(Int32(clamping: count)))
      default: relay.outgoing.removeFirst(count)
      }
    }
  }

  /// The connection is over; so is the one that it carried. The reason first: the other side reads
  /// it when the socket ends.
  func endRelay() {
    guard let relay else { return }
    if let failure, failure.kind != .cancelled { relay.carrier.report(failure.message) }
    closeDescriptor(relay.socket)
    self.relay = nil
  }
}
