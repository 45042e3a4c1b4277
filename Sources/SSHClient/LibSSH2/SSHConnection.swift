import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The single owner of one libssh2 session. All of it runs on the reactor's thread.
///
/// Every libssh2 call that may have to wait is an `Operation`. The thread's loop is: run jobs, then
/// `turn`: try every operation until a pass receives no byte, then poll(2). Any libssh2 call drains
/// the socket into the queues of all channels; sleeping after a pass that received bytes would leave
/// somebody's data lying there (measured: stalls as long as the poll's timeout).
actor SSHConnection: EngineConnection {
  /// What errors call the host.
  nonisolated let host: String
  nonisolated let reactor: Reactor
  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

  /// Both nil before the handshake and after the end.
  private(set) var wire: Wire?
  private(set) var session: OpaquePointer?
  /// Why there is no connection any more; every later call throws it.
  private(set) var failure: SSHError?

  private var operations: [Operation] = []
  private var lastOperationID: UInt64 = 0
  /// Something changed that the socket does not show: the next turn makes a pass.
  private var isDirty = false
  private var receivedAtLastPass: UInt64 = 0
  private var receivedAtPoll: UInt64 = 0
  /// Set when the socket is readable but nobody may read now (a signature is awaited): poll(2)
  /// would return at once for ever.
  private var deafUntil: ContinuousClock.Instant?
  /// When poll(2) first reported a hang-up while nobody read.
  private var hungUpAt: ContinuousClock.Instant?

  var channels: [UInt32: Channel] = [:]
  /// Channels that nobody uses any more and the server has not closed yet.
  var parked: [Channel] = []
  /// Whether the server has opened a channel before.
  var hasOpenedChannel = false
  /// The operation in libssh2's only slot for opening a channel. Like the next one it ends only
  /// with libssh2's answer, or with the connection.
  var openingOperation: UInt64?
  /// The operation whose request for a command is unanswered: one at a time, as above.
  var requestingOperation: UInt64?
  /// A closed channel kept to have something to read through while no other is open: only so are
  /// a server's new keys answered and keepalives' replies noticed.
  var spare: Channel?
  /// What each command is to find in its environment. What the server does not take is removed, so
  /// that it costs one round trip for each connection and not for each command.
  var environment: [RemoteEnvironment.Variable] = []
  /// Set on a hop: the next connection, which one of this one's channels carries.
  var relay: Relay?
  /// What carries this connection, if it is no TCP connection of our own.
  private(set) var carrier: (any Carrier)?
  private var liveness = Liveness()
  private var isAuthenticated = false

  init(host: String) throws(SSHError) {
    self.host = host
    reactor = try Reactor(host: host)
  }

  // MARK: Beginning and end

  /// libssh2_init once for the process. libssh2_exit is never called: it would break the sessions
  /// of other connections.
  private static let isLibraryReady = libssh2_init(0) == 0

  /// Takes over a route.
  func adopt(_ route: Route, _ liveness: Liveness) throws(SSHError) -> OpaquePointer {
    let wire = Wire(socket: route.socket)
    guard Self.isLibraryReady, let session = wire.makeSession() else {
      route.discard()
      throw SSHError(.connect, .badConfiguration, host: host, "libssh2 does not start")
    }
    (self.wire, self.session) = (wire, session)
    (carrier, self.liveness) = (route.carrier, liveness)
    reactor.serve { ready in self.assumeIsolated { $0.turn(ready: ready) } }
    return session
  }

  func authenticated(_ environment: RemoteEnvironment) {
    isAuthenticated = true
    wire?.wipesFreedMemory = false
    self.environment = environment.variables
  }

  /// Ends the connection at once; idempotent.
  func close() {
    if let session, let wire, failure == nil {
      // A courtesy for the server's log; one try, and only what the socket takes at once.
      _ = libssh2_session_disconnect_ex(session, SSH_DISCONNECT_BY_APPLICATION, "closed", "")
      _ = wire.flush()
    }
    fail(SSHError(.cancelled, .cancelled, host: host, "The connection was closed"))
    tearDown()
  }

  /// The link is of no more use. The session is freed at the end of the turn, when no libssh2 call
  /// is under way.
  func fail(_ error: SSHError) {
    guard failure == nil else { return }
    failure = error
    for operation in operations { operation.end(error) }
    operations.removeAll()
  }

  private func tearDown() {
    reactor.release()
    guard let wire, let session else { return }
    endRelay()
    channels.removeAll()
    parked.removeAll()
    spare = nil
    // First the socket: on a live one libssh2 waits for the peer to close each channel.
    shutdown(wire.socket, Int32(SHUT_RDWR))
    wire.isDead = true
    var tries = 0
    // With a dead wire it never waits; the bound is for a library that thinks otherwise.
    while libssh2_session_free(session) == LIBSSH2_ERROR_EAGAIN, tries < 100 { tries += 1 }
    closeDescriptor(wire.socket)
    carrier?.end(isWished: failure?.kind == .cancelled)
    (self.wire, self.session) = (nil, nil)
  }

  // MARK: Operations

  /// Calls `attempt` now and in every pass until it gives a result, the deadline passes, or the
  /// task is cancelled.
  ///
  /// - Parameters:
  ///   - outlivesWaiter: whether it must go on when nobody waits any more.
  ///   - unwanted: gets the result of an operation that nobody waits for any more.
  func perform<Value: Sendable>(
    channel: UInt32? = nil, deadline: ContinuousClock.Instant?, expired: SSHError,
    outlivesWaiter: @escaping () -> Bool = { false },
    unwanted: @escaping (Result<Value, SSHError>) -> Void = { _ in },
    attempt: @escaping (_ id: UInt64) -> Result<Value, SSHError>?
  ) async throws(SSHError) -> Value {
    if let failure { throw failure }
    lastOperationID += 1
    let id = lastOperationID
    let result: Result<Value, SSHError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(continuation)
        start(
          Operation(
            id: id, channel: channel, deadline: deadline, expired: expired,
            outlivesWaiter: outlivesWaiter,
            attempt: {
              guard let result = attempt(id) else { return false }
              if waiter.isPresent { waiter.resume(result) } else { unwanted(result) }
              return true
            },
            release: { waiter.resume(.failure($0)) }))
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    return try result.get()
  }

  private func start(_ operation: Operation) {
    operations.append(operation)
    wire?.allowance = Wire.fullAllowance
    operation.tryOnce()
    operations.removeAll(where: \.isOver)
    // It may have taken in bytes for others; and a pass reads on for it.
    isDirty = isDirty || !operation.isOver
  }

  private func cancel(_ id: UInt64) {
    for operation in operations where operation.id == id {
      operation.leave(.cancelled(host: host))
    }
    operations.removeAll(where: \.isOver)
    isDirty = true
  }

  /// Ends what still waits on a channel.
  func endOperations(of channel: UInt32, _ error: SSHError) {
    for operation in operations where operation.channel == channel { operation.end(error) }
    operations.removeAll(where: \.isOver)
    isDirty = true
  }

  /// Whether somebody still waits for the operation's result.
  func isWatched(_ id: UInt64) -> Bool {
    operations.contains { $0.id == id && $0.isWatched }
  }

  func isPending(_ id: UInt64) -> Bool { operations.contains { $0.id == id && !$0.isOver } }

  /// To be called when an operation may go on for a reason that the socket does not show.
  func wake() { isDirty = true }

  // MARK: The turn

  /// Does what can be done now; then says what to wait for, or nil when nothing is left.
  ///
  /// - Parameter ready: what each descriptor of the last answer is ready for; the first is the
  ///   connection's own socket.
  func turn(ready: [Int16]) -> Interest? {
    if ready.dropFirst().contains(where: { $0 != 0 }) {
      carrier?.listen()
      isDirty = true
    }
    if let wire, failure == nil {
      if wire.hasUnsentBytes {
        if !wire.flush() { fail(lost("sending failed")) }
        // Writers wait for this, and the socket will not be asked about it again.
        isDirty = isDirty || !wire.hasUnsentBytes
      }
      pass(wire, ready.first ?? 0)
    }
    guard failure == nil, let wire else {
      tearDown()
      return nil
    }
    let deadline = runTimers(wire)
    guard failure == nil else {
      tearDown()
      return nil
    }
    var events: Int16 = 0
    if wire.hasUnsentBytes { events |= Int16(POLLOUT) }
    if deafUntil == nil, pumpChannel != nil || !operations.isEmpty { events |= Int16(POLLIN) }
    receivedAtPoll = wire.received
    let isQuiet = !isDirty && wire.received == receivedAtLastPass
    // A hang-up is reported whatever the events are; only a negative descriptor is passed over.
    let socket = hungUpAt != nil && deafUntil != nil ? -1 : wire.socket
    return Interest(
      polls: [pollfd(fd: socket, events: events, revents: 0)]
        + [relay?.interest, carrier?.interest].compactMap { $0 },
      deadline: isQuiet ? deadline : .now)
  }

  /// Tries everything once. When it received anything, or an operation's end made room for another,
  /// the turn is not quiet, and the next pass follows without sleep.
  private func pass(_ wire: Wire, _ ready: Int16) {
    let isReadable = ready & ~Int16(POLLOUT) != 0
    guard ready != 0 || isDirty || wire.received != receivedAtLastPass else { return }
    isDirty = false
    receivedAtLastPass = wire.received
    wire.allowance = Wire.fullAllowance
    for operation in operations where failure == nil { operation.tryOnce() }
    operations.removeAll(where: \.isOver)
    if failure == nil { carryRelay() }
    if failure == nil { reapParkedChannels() }
    if failure == nil, isReadable { pump() }
    // A job that ran since poll(2) may have taken the bytes it told of.
    guard isReadable, failure == nil, wire.received == receivedAtPoll else { return }
    // Nobody reads now, so nobody else would notice a hang-up, and poll(2) reports it for ever.
    if ready & Int16(POLLHUP | POLLERR) != 0, !wire.hasUnreadBytes {
      // Its last words may lie in libssh2's queue, where the next operation finds them: one that
      // comes soon is waited for.
      let since = hungUpAt ?? .now
      hungUpAt = since
      if since + .seconds(1) < .now { return fail(lost("the server hung up")) }
    }
    deafUntil = .now + .milliseconds(100)
  }

  /// Lets libssh2 read the socket, whoever the bytes are for. Bounded by the channels' windows.
  private func pump() {
    guard let channel = pumpChannel else { return }
    var nothing: CChar = 0
    let code = libssh2_channel_read_ex(channel.pointer, 0, &nothing, 0)
    if code < 0, code != Int(LIBSSH2_ERROR_EAGAIN) { fail(lost(Int32(code))) }
  }

  private var pumpChannel: Channel? { channels.first?.value ?? parked.first ?? spare }

  private func runTimers(_ wire: Wire) -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    var nearest: ContinuousClock.Instant?
    func wait(until instant: ContinuousClock.Instant) {
      nearest = nearest.map { min($0, instant) } ?? instant
    }
    for operation in operations where operation.isWatched {
      guard let deadline = operation.deadline else { continue }
      if deadline <= now { operation.leave(operation.expired) } else { wait(until: deadline) }
    }
    operations.removeAll(where: \.isOver)
    if let until = deafUntil {
      if until <= now { deafUntil = nil } else { wait(until: until) }
    }
    if isAuthenticated, pumpChannel != nil { wait(until: watchLink(wire, now)) }
    return nearest
  }

  /// Sends keepalives into a silence, and ends the connection when they stay unanswered.
  private func watchLink(
    _ wire: Wire, _ now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant {
    switch liveness.step(now: now, lastReceived: wire.lastReceived) {
    case .wait(let instant): return instant
    case .probe:
      sendKeepalive(wire)
      return now + liveness.probeInterval
    case .dead(let silence):
      // A process that was stopped may find the answer in the socket.
      let before = wire.received
      pump()
      if failure == nil, wire.received == before {
        fail(
          SSHError(
            .linkDead, .unreachable, host: host,
            "The link is dead: no byte came for \(silence.components.seconds) s"))
      }
      return now + liveness.probeInterval
    }
  }

  private func sendKeepalive(_ wire: Wire) {
    guard let session else { return }
    // A reply is asked for, or nothing would come back. libssh2 up to 1.11.1 keeps every reply
    // (125 bytes); that is why probes go out in silence only.
    // Its own interval is measured in wall-clock seconds, which may be set back; as an int this
    // one is negative, so that each call sends.
    libssh2_keepalive_config(session, 1, UInt32(bitPattern: Int32.min + 1))
    let before = wire.sent
    var unused: Int32 = 0
    let code = libssh2_keepalive_send(session, &unused)
    if code < 0, code != LIBSSH2_ERROR_EAGAIN { return fail(lost(code)) }
    if wire.sent != before { liveness.probed(at: .now) }
  }
}
