import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// From a host name to a connected TCP socket. The functions that block run on threads of their own.
struct Dialer: Sendable {
  /// What errors call the host.
  let host: String
  let name: String
  let port: UInt16
  let network: NetworkSettings

  /// RFC 8305 §5: how long one address may keep the next one waiting.
  private static let stagger = Duration.milliseconds(250)
  /// As ssh: the pause before another of the ConnectionAttempts.
  private static let pause = Duration.seconds(1)

  /// The addresses of the name, and those of ours to connect from; nil where any will do.
  struct Addresses: Sendable {
    var remote: [SocketAddress]
    var local: [SocketAddress]?
  }

  /// A connected socket, and where it leads to.
  struct Connected: Sendable {
    var socket: Int32
    var address: SocketAddress
  }

  func resolve(deadline: Duration) async throws(SSHError) -> Addresses {
    let expired = SSHError(
      .resolve, .timedOut, host: host, "The name \(name) was not resolved within \(deadline)")
    return try await onOwnThread(deadline: deadline, expired: expired) { [self] in lookUp() }
  }

  private func lookUp() -> Result<Addresses, SSHError> {
    var addresses = Addresses(remote: [], local: nil)
    switch SocketAddress.lookUp(name, port: port, network.addressFamily) {
    case .success(let found): addresses.remote = found
    case .failure(let error):
      // Even "no such name" may pass: a laptop that just woke up asks before it has a network.
      return .failure(
        SSHError(
          .resolve, .unreachable, host: host, "Cannot resolve \(name): \(error.words)",
          advice: "Check the name, which ssh_config may give, and your network"))
    }
    switch LocalAddress.candidates(network) {
    case nil: break
    case .success(let found)?: addresses.local = found
    // The address may come with the network, like that of a tunnel.
    case .failure(let error)?:
      return .failure(SSHError(.connect, .unreachable, host: host, error.words))
    }
    return .success(addresses)
  }

  /// The first of the addresses that answers; each next one is tried when the one before has failed
  /// or 250 ms have gone by.
  ///
  /// - Parameter deadline: for all ConnectionAttempts together, as ssh counts ConnectTimeout.
  func connect(
    _ addresses: Addresses, deadline: Duration
  ) async throws(SSHError) -> Connected {
    let end = ContinuousClock.now + deadline
    var attemptsLeft = network.attempts
    while true {
      attemptsLeft -= 1
      do throws(SSHError) {
        return try await connectOnce(addresses, deadline, until: end)
      } catch {
        let next = ContinuousClock.now + Self.pause
        guard attemptsLeft > 0, error.kind == .unreachable, next < end else { throw error }
      }
      // Cancelled, the sleep ends at once, and so does the next attempt.
      try? await Task.sleep(for: Self.pause, clock: .continuous)
    }
  }

  private func connectOnce(
    _ addresses: Addresses, _ deadline: Duration, until end: ContinuousClock.Instant
  ) async throws(SSHError) -> Connected {
    let list = addresses.remote.map(\.description).joined(separator: ", ")
    let expired = SSHError(
      .connect, .timedOut, host: host, "No connection within \(deadline) to \(list)")
    return try await onOwnThread(
      deadline: end - .now, expired: expired, unwanted: { closeDescriptor($0.socket) }
    ) { [self] in race(addresses, until: end, expired: expired) }
  }

  private func race(
    _ addresses: Addresses, until end: ContinuousClock.Instant, expired: SSHError
  ) -> Result<Connected, SSHError> {
    var waiting = addresses.remote[...]
    var attempts: [(socket: Int32, address: SocketAddress)] = []
    var failures: [String] = []
    var winner: Connected?
    defer {
      for attempt in attempts where attempt.socket != winner?.socket { close(attempt.socket) }
    }
    var nextStart = ContinuousClock.now
    while winner == nil {
      let now = ContinuousClock.now
      if now >= end { return .failure(expired) }
      if let address = waiting.first, attempts.isEmpty || now >= nextStart {
        waiting.removeFirst()
        nextStart = now + Self.stagger
        let local = addresses.local?.first { $0.isOfSameKind(as: address) }
        if addresses.local != nil, local == nil {
          failures.append("\(address): no local address of this kind to come from")
          continue
        }
        switch address.beginConnecting(from: local) {
        case .success(let socket): attempts.append((socket, address))
        case .failure(let error): failures.append("\(address): \(error.words)")
        }
        continue
      }
      if attempts.isEmpty {
        let words = failures.isEmpty ? "\(name) has no address" : failures.joined(separator: "; ")
        return .failure(
          SSHError(
            .connect, .unreachable, host: host, "Cannot connect: \(words)",
            advice: "Check that it is up, its name and its port"))
      }
      var polls = attempts.map { pollfd(fd: $0.socket, events: Int16(POLLOUT), revents: 0) }
      let wake = waiting.isEmpty ? end : min(end, nextStart)
      poll(&polls, nfds_t(polls.count), (wake - now).pollMilliseconds)
      for (index, entry) in polls.enumerated().reversed() where entry.revents != 0 {
        let failure = socketError(entry.fd)
        if failure == 0 {
          winner = Connected(socket: entry.fd, address: attempts[index].address)
          break
        }
        failures.append("\(attempts[index].address): \(SystemError(code: failure).words)")
        close(attempts.remove(at: index).socket)
      }
    }
    guard let winner else { return .failure(expired) }
    // Without it the handshake waits for delayed acknowledgements: +80 ms even on loopback.
    setOn(TCP_NODELAY, Int32(IPPROTO_TCP), of: winner.socket)
    if network.keepsTCPAlive { setOn(SO_KEEPALIVE, SOL_SOCKET, of: winner.socket) }
    return .success(winner)
  }

  private func setOn(_ option: Int32, _ level: Int32, of socket: Int32) {
    var on: Int32 = 1
    setsockopt(socket, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private func socketError(_ socket: Int32) -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
    return code
  }
}
