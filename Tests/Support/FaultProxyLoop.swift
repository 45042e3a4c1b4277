#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The proxy's thread: one `poll(2)` over the listener and all connections.
struct FaultProxyLoop: Sendable {
  private let listener: Int32
  private let server: UInt16
  private let control: Locked<FaultControl>
  private let wakeUp: WakeUp
  /// With a limit, how often a second the bytes are handed out.
  private static let ticksPerSecond = 100

  init(listener: Int32, server: UInt16, _ control: Locked<FaultControl>, _ wakeUp: WakeUp) {
    self.listener = listener
    self.server = server
    self.control = control
    self.wakeUp = wakeUp
  }

  func run() {
    var connections: [ProxiedConnection] = []
    while true {
      wakeUp.clear()
      let order = control.withLock { state in
        defer {
          (state.cutAll, state.freezesAll, state.thawsAll, state.drops) = (nil, false, false, [])
        }
        return state
      }
      if order.isStopped { break }
      if let cut = order.cutAll {
        for connection in connections { end(connection, cut) }
        connections = []
      }
      if order.freezesAll { for connection in connections { connection.isFrozen = true } }
      if order.thawsAll { for connection in connections { connection.isFrozen = false } }
      for connection in connections { connection.dropped.formUnion(order.drops) }
      acceptAll(into: &connections, order)
      let limit = order.bytesPerSecond.map { max(1, $0 / Self.ticksPerSecond) } ?? Int.max
      connections.removeAll { !serve($0, limit, order.delay) }
      wait(for: connections, isLimited: order.bytesPerSecond != nil)
    }
    close(listener)
    for connection in connections { connection.end(.finish) }
  }

  private func acceptAll(into connections: inout [ProxiedConnection], _ order: FaultControl) {
    while true {
      let client = accept(listener, nil, nil)
      if client == -1 { return }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      guard !order.refuses, let upstream = try? connectToLoopback(port: server) else {
        closeWithReset(client)
        continue
      }
      control.withLock { $0.connectionCount += 1 }
      let connection = ProxiedConnection(client: client, server: upstream)
      connection.isFrozen = order.freezesNew
      connections.append(connection)
    }
  }

  /// Forwards what can be forwarded now. Returns whether the connection goes on.
  private func serve(
    _ connection: ProxiedConnection, _ limit: Int, _ delay: Duration
  ) -> Bool {
    if connection.isFrozen { return true }
    connection.delay = delay
    for direction in FaultProxy.Direction.allCases {
      let left = control.withLock { $0.bytesLeft(direction) }
      let sent = connection.forward(direction, atMost: min(limit, left ?? Int.max))
      let cut = control.withLock { state -> FaultProxy.Cut? in
        state.total[direction]! += sent
        if state.isArmed, sent > 0 {
          state.sinceArmed[direction]! += sent
          state.boundaries[direction]!.append(state.sinceArmed[direction]!)
        }
        guard let plan = state.plan, state.bytesLeft(direction) == 0 else { return nil }
        state.plan = nil
        return plan.cut
      }
      if let cut {
        end(connection, cut)
        return false
      }
    }
    if connection.isOver { connection.end(.finish) }
    return !connection.isOver
  }

  /// Counts before it cuts: who has seen the end must find it counted.
  private func end(_ connection: ProxiedConnection, _ cut: FaultProxy.Cut) {
    control.withLock { $0.cutCount += 1 }
    connection.end(cut)
  }

  private func wait(for connections: [ProxiedConnection], isLimited: Bool) {
    if isLimited {
      _ = poll(nil, 0, Int32(1000 / Self.ticksPerSecond))
      return
    }
    var polled = [wakeUp.descriptor, listener].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let now = ContinuousClock.now
    var next: ContinuousClock.Instant?
    for connection in connections where !connection.isFrozen {
      polled += connection.events(at: now)
      next = [next, connection.nextDue(after: now)].compactMap { $0 }.min()
    }
    _ = poll(&polled, nfds_t(polled.count), next.map(Self.milliseconds) ?? -1)
  }

  /// Until then, rounded up: woken too early, the loop would turn without sleeping.
  private static func milliseconds(until due: ContinuousClock.Instant) -> Int32 {
    let left = max(.zero, due - .now).components
    return Int32(
      left.seconds * 1000 + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// A client's connection and the one to the server that stands for it. Used by the proxy's thread
/// alone.
private final class ProxiedConnection {
  var isFrozen = false
  /// The directions whose bytes are read and go nowhere.
  var dropped: Set<FaultProxy.Direction> = []
  private let client: Int32
  private let server: Int32
  private var toServer = Stream()
  private var toClient = Stream()

  /// How long every byte stays here, whatever their number.
  var delay = Duration.zero

  /// One direction: what was read and is not written yet.
  private struct Stream {
    /// Oldest first, each with the moment from which it may go.
    var waiting: [(due: ContinuousClock.Instant, bytes: ArraySlice<UInt8>)] = []
    /// From then on the writer may be told that the reader has seen the end.
    var end: ContinuousClock.Instant?
    /// The writer was told so.
    var isFinished = false

    var nextDue: ContinuousClock.Instant? { isFinished ? nil : waiting.first?.due ?? end }
  }

  init(client: Int32, server: Int32) {
    (self.client, self.server) = (client, server)
    makeImmediate(client)
    makeImmediate(server)
  }

  /// Whether both directions have ended.
  var isOver: Bool { toServer.isFinished && toClient.isFinished }

  /// When the first of what is not due yet will be.
  func nextDue(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    [toServer, toClient].compactMap(\.nextDue).filter { $0 > now }.min()
  }

  func events(at now: ContinuousClock.Instant) -> [pollfd] {
    func wanted(_ reading: Stream, _ writing: Stream) -> Int16 {
      var events: Int16 = 0
      if mayRead(reading) { events |= Int16(POLLIN) }
      if let due = writing.waiting.first?.due, due <= now { events |= Int16(POLLOUT) }
      return events
    }
    return [
      pollfd(fd: client, events: wanted(toServer, toClient), revents: 0),
      pollfd(fd: server, events: wanted(toClient, toServer), revents: 0),
    ].filter { $0.events != 0 }
  }

  /// With a delay all that comes is taken in, or the sender's window would fill up here; without
  /// one, no more than can go on.
  private func mayRead(_ stream: Stream) -> Bool {
    stream.end == nil && (delay > .zero || stream.waiting.isEmpty)
  }

  /// Moves at most `limit` bytes; returns how many were written.
  func forward(_ direction: FaultProxy.Direction, atMost limit: Int) -> Int {
    let drops = dropped.contains(direction)
    return switch direction {
    case .toServer: forward(from: client, to: server, &toServer, atMost: limit, drops)
    case .toClient: forward(from: server, to: client, &toClient, atMost: limit, drops)
    }
  }

  private func forward(
    from source: Int32, to target: Int32, _ stream: inout Stream, atMost limit: Int, _ drops: Bool
  ) -> Int {
    if stream.isFinished || limit == 0 { return 0 }
    if mayRead(stream) { readMore(from: source, &stream) }
    if drops { stream.waiting = [] }
    let now = ContinuousClock.now
    var sent = 0
    while let first = stream.waiting.first, first.due <= now, sent < limit {
      let count = first.bytes.withUnsafeBytes {
        write(target, $0.baseAddress!, min($0.count, limit - sent))
      }
      if count > 0 {
        sent += count
        stream.waiting[0].bytes.removeFirst(count)
        if stream.waiting[0].bytes.isEmpty { stream.waiting.removeFirst() }
      } else if errno == EAGAIN || errno == EINTR {
        break
      } else {
        stream.waiting = []
        stream.end = now
      }
    }
    if let end = stream.end, end <= now, stream.waiting.isEmpty {
      stream.isFinished = true
      shutdown(target, Int32(SHUT_WR))
    }
    return sent
  }

  private func readMore(from source: Int32, _ stream: inout Stream) {
    let due = ContinuousClock.now + delay
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = read(source, &buffer, buffer.count)
    if count > 0 {
      stream.waiting.append((due, buffer[..<count]))
    } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
      stream.end = due
    }
  }

  func end(_ cut: FaultProxy.Cut) {
    for socket in [client, server] {
      switch cut {
      case .reset: closeWithReset(socket)
      case .finish: close(socket)
      }
    }
  }
}
