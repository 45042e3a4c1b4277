#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The single owner of one master and of the commands over it. All of it runs on the reactor's
/// thread: every pass tries each waiting call once, then the thread poll(2)s.
///
/// What `ssh` does not pass on cannot be told: a command that a signal ended is `.unknown`, not
/// `.signal`. `.endOfFile` comes when the end is known to be none of the link's.
actor OpenSSHConnection: EngineConnection {
  nonisolated let host: String
  nonisolated let arguments: MasterArguments
  nonisolated let options: ConnectionOptions
  nonisolated let folder: ControlFolder
  private nonisolated let reactor: Reactor
  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

  /// Both nil before the start and after the end.
  var master: SSHChild?
  var questions: QuestionPipes?
  /// The question that the user is being asked.
  var asking: Task<Void, Never>?
  var log = MasterLog()
  var isReady = false
  /// Why there is no connection any more; every later call throws it.
  private(set) var failure: SSHError?

  var channels: [Int: MuxChannel] = [:]
  var lastChannel = 0
  /// Whether the server has ever opened a channel.
  var hasOpened = false
  private var operations: [Operation] = []
  private var lastOperation: UInt64 = 0

  /// How often a process is looked at whose end nothing else would show.
  private static let look = Duration.milliseconds(10)

  init(_ arguments: MasterArguments, _ options: ConnectionOptions) throws(SSHError) {
    host = arguments.host.text
    (self.arguments, self.options) = (arguments, options)
    reactor = try Reactor(host: host)
    folder = try ControlFolder(host: host)
  }

  // MARK: Beginning and end

  func serve() {
    reactor.serve { _ in self.assumeIsolated { $0.turn() } }
  }

  /// Ends the connection at once; idempotent.
  func close() {
    fail(SSHError(.cancelled, .cancelled, host: host, "The connection was closed"))
    tearDown()
  }

  /// The link is of no more use; the rest is done at the end of the turn.
  func fail(_ error: SSHError) {
    guard failure == nil else { return }
    failure = error
    for operation in operations { operation.end(error) }
    operations.removeAll()
  }

  private func tearDown() {
    reactor.release()
    for channel in channels.values { channel.end() }
    channels.removeAll()
    asking?.cancel()
    (questions, asking) = (nil, nil)
    // First the folder: this process may end at any moment, and then the one beside the master does
    // the rest, as long as it lives.
    folder.remove()
    master?.end()
    master = nil
  }

  // MARK: Operations

  /// Calls `attempt` now and in every pass until it gives a result, the deadline passes, or the task
  /// is cancelled.
  func perform<Value: Sendable>(
    deadline: ContinuousClock.Instant? = nil, expired: @escaping () -> SSHError,
    attempt: @escaping () -> Result<Value, SSHError>?
  ) async throws(SSHError) -> Value {
    if let failure { throw failure }
    lastOperation += 1
    let id = lastOperation
    let result: Result<Value, SSHError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(continuation)
        let operation = Operation(
          id: id, channel: nil, deadline: deadline, expired: expired(),
          outlivesWaiter: { false },
          attempt: {
            guard let result = attempt() else { return false }
            waiter.resume(result)
            return true
          },
          release: { waiter.resume(.failure($0)) })
        operations.append(operation)
        operation.tryOnce()
        operations.removeAll(where: \.isOver)
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
    return try result.get()
  }

  private func cancel(_ id: UInt64) {
    for operation in operations where operation.id == id {
      operation.leave(.cancelled(host: host))
    }
    operations.removeAll(where: \.isOver)
  }

  // MARK: The turn

  private func turn() -> Interest? {
    if failure == nil { serveMaster() }
    let now = ContinuousClock.now
    for operation in operations where failure == nil {
      operation.tryOnce()
      if let deadline = operation.deadline, deadline <= now, !operation.isOver {
        operation.leave(operation.expired)
      }
    }
    operations.removeAll(where: \.isOver)
    guard failure == nil, let master else {
      tearDown()
      return nil
    }
    // Its stderr ends with it; where a ProxyCommand of its own holds that open, its end is noticed
    // by the next turn, which every channel's end brings.
    var polls = [Self.entry(master.end(of: .errors))]
    if let questions { polls.append(Self.entry(questions.questions)) }
    var deadline = operations.compactMap(\.deadline).min()
    if !isReady || !master.isOpen(.errors) {
      deadline = min(deadline ?? now + Self.look, now + Self.look)
    }
    for channel in channels.values {
      polls += interest(in: channel)
      if mustLook(at: channel) { deadline = min(deadline ?? now + Self.look, now + Self.look) }
    }
    return Interest(polls: polls, deadline: deadline)
  }

  private func interest(in channel: MuxChannel) -> [pollfd] {
    var polls: [pollfd] = []
    if channel.isOpening { polls.append(Self.entry(channel.logPipe)) }
    if channel.readers > 0 {
      polls += [SSHChild.Stream.output, .errors].map { Self.entry(channel.child.end(of: $0)) }
    }
    if channel.writers > 0 { polls.append(Self.entry(channel.child.end(of: .input), POLLOUT)) }
    return polls
  }

  /// An end without a last word shows nowhere.
  private func mustLook(at channel: MuxChannel) -> Bool {
    channel.isOpening || (channel.readers > 0 && channel.streamsEndedAt != nil)
  }

  private static func entry(_ descriptor: Int32, _ events: Int32 = POLLIN) -> pollfd {
    pollfd(fd: descriptor, events: Int16(events), revents: 0)
  }
}
