import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// The connection to a host that all verbs share, made when it is first needed, and again after it
/// was lost.
actor HostLink {
  nonisolated let host: String
  private let connector: any Connector
  /// Remembers when the host was reached, and by what.
  private let store: JobStore
  /// Told when a connection was made.
  private let onContact: @Sendable () async -> Void
  private var connecting: Task<any Transport, any Error>?
  /// How many callers that attempt to connect has had, and how many of these were cancelled.
  private(set) var callers = (all: 0, cancelled: 0)
  private var transport: (any Transport)?

  init(
    host: String, connector: any Connector, store: JobStore,
    onContact: @escaping @Sendable () async -> Void = {}
  ) {
    self.host = host
    self.connector = connector
    self.store = store
    self.onContact = onContact
  }

  /// Starts a verb on a channel of its own. A connection that turns out to be dead is let go of; the
  /// next call makes a new one.
  ///
  /// - Parameter gate: passed once there is a connection, before anything is sent over it.
  func open(_ script: RemoteScript, gate: LaunchGate? = nil) async throws -> Exchange {
    let transport = try await connected()
    try await gate?.pass()
    let nonce = RemoteScript.freshNonce()
    do {
      let process = try await transport.execute(
        script.command(nonce: nonce), deadline: .seconds(20))
      return Exchange(host: host, nonce: nonce, process: process)
    } catch {
      if error.kind != .tooManyChannels, error.kind != .cancelled { forget(transport) }
      throw JobError(error)
    }
  }

  /// Connects, if that was not done yet: a contact, and nothing more.
  func reach() async throws { _ = try await connected() }

  /// Lets go of the connection, so that the next call makes a new one. To be called when a read or
  /// write on it has failed. It is not closed: what other verbs do on connections beside the one
  /// that was lost goes on, and the last of them takes it along.
  func letGo() { transport = nil }

  /// Closes the connection.
  func disconnect() async {
    let open = transport
    transport = nil
    await open?.close()
  }

  private func forget(_ dead: any Transport) {
    if transport === dead { transport = nil }
  }

  private func connected() async throws -> any Transport {
    if let transport { return transport }
    let task = connecting ?? Task { try await connect() }
    connecting = task
    callers.all += 1
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        Task { await self.leave(task) }
      }
    } catch let error as StoreError {
      throw JobError.store(error)
    } catch {
      throw (error as? SSHError).map(JobError.init) ?? JobError.cancelled
    }
  }

  private func connect() async throws -> any Transport {
    defer { (connecting, callers) = (nil, (0, 0)) }
    let first = try await connector.connect()
    let made = SharedTransport(first, host: host) { [connector] () throws(SSHError) in
      try await connector.connect()
    }
    transport = made
    try await store.recordContact(with: host, engine: made.engine)
    await onContact()
    return made
  }

  /// A caller was cancelled: the attempt ends when nobody else waits for it.
  private func leave(_ task: Task<any Transport, any Error>) {
    guard task == connecting else { return }
    callers.cancelled += 1
    if callers.cancelled == callers.all { task.cancel() }
  }
}
