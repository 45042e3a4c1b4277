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
  let family: HostConfiguration.AddressFamily

  /// RFC 8305 §5: how long one address may keep the next one waiting.
  private static let stagger = Duration.milliseconds(250)

  func resolve(deadline: Duration) async throws(SSHError) -> [SocketAddress] {
    let expired = SSHError(
      .resolve, .timedOut, host: host, "The name \(name) was not resolved within \(deadline)")
    return try await onOwnThread(deadline: deadline, expired: expired) { [self] in lookUp() }
  }

  private func lookUp() -> Result<[SocketAddress], SSHError> {
    var hints = addrinfo()
    hints.ai_family = family.domain
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, String(port), &hints, &list)
    guard code == 0 else {
      let words = String(cString: gai_strerror(code))
      // Even "no such name" may pass: a laptop that just woke up asks before it has a network.
      return .failure(
        SSHError(.resolve, .unreachable, host: host, "Cannot resolve \(name): \(words)"))
    }
    defer { freeaddrinfo(list) }
    return .success(
      sequence(first: list, next: { $0?.pointee.ai_next }).prefix(while: { $0 != nil })
        .compactMap { $0.flatMap { SocketAddress($0.pointee) } })
  }

  /// The first of `addresses` that answers; each next one is tried when the one before has failed or
  /// 250 ms have gone by.
  func connect(_ addresses: [SocketAddress], deadline: Duration) async throws(SSHError) -> Int32 {
    let list = addresses.map(\.description).joined(separator: ", ")
    let expired = SSHError(
      .connect, .timedOut, host: host, "No connection within \(deadline) to \(list)")
    return try await onOwnThread(
      deadline: deadline, expired: expired, unwanted: Self.discard
    ) { [self] in race(addresses, until: .now + deadline, expired: expired) }
  }

  /// Closes a socket that nobody took over.
  @Sendable static func discard(_ socket: Int32) { close(socket) }

  private func race(
    _ addresses: [SocketAddress], until end: ContinuousClock.Instant, expired: SSHError
  ) -> Result<Int32, SSHError> {
    var waiting = addresses[...]
    var attempts: [(socket: Int32, address: SocketAddress)] = []
    var failures: [String] = []
    var winner: Int32?
    defer { for attempt in attempts where attempt.socket != winner { close(attempt.socket) } }
    var nextStart = ContinuousClock.now
    while winner == nil {
      let now = ContinuousClock.now
      if now >= end { return .failure(expired) }
      if let address = waiting.first, attempts.isEmpty || now >= nextStart {
        waiting.removeFirst()
        nextStart = now + Self.stagger
        switch address.beginConnecting() {
        case .success(let socket): attempts.append((socket, address))
        case .failure(let error): failures.append("\(address): \(error.words)")
        }
        continue
      }
      if attempts.isEmpty {
        let words = failures.isEmpty ? "\(name) has no address" : failures.joined(separator: "; ")
        return .failure(SSHError(.connect, .unreachable, host: host, "Cannot connect: \(words)"))
      }
      var polls = attempts.map { pollfd(fd: $0.socket, events: Int16(POLLOUT), revents: 0) }
      let wake = waiting.isEmpty ? end : min(end, nextStart)
      poll(&polls, nfds_t(polls.count), (wake - now).pollMilliseconds)
      for (index, entry) in polls.enumerated().reversed() where entry.revents != 0 {
        let failure = socketError(entry.fd)
        if failure == 0 {
          winner = entry.fd
          break
        }
        failures.append("\(attempts[index].address): \(SystemError(code: failure).words)")
        close(attempts.remove(at: index).socket)
      }
    }
    guard let winner else { return .failure(expired) }
    // Without it the handshake waits for delayed acknowledgements: +80 ms even on loopback.
    var on: Int32 = 1
    setsockopt(
      winner, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    return .success(winner)
  }

  private func socketError(_ socket: Int32) -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
    return code
  }
}

extension HostConfiguration.AddressFamily {
  fileprivate var domain: Int32 {
    switch self {
    case .any: AF_UNSPEC
    case .inet: AF_INET
    case .inet6: AF_INET6
    }
  }
}
