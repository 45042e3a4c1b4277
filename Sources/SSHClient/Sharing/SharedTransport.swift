/// A connection that many share: when the server opens no further channel on it (sshd_config(5),
/// MaxSessions), further connections are made, and closed when they are no longer needed.
public actor SharedTransport: Transport {
  /// The most that is asked of one connection. An OpenSSH server allows 10, and one that was let go
  /// of counts until its command ends.
  private static let channelsEach = 8
  private static let mostConnections = 4

  /// The first connection's.
  public nonisolated let agreement: ConnectionDescription
  /// The first connection's.
  public nonisolated var engine: String { agreement.engine }
  private let host: String
  private let more: @Sendable () async throws(SSHError) -> any Transport
  private var connections: [Connection]
  private var connecting: Task<Result<Void, SSHError>, Never>?
  private var isClosed = false

  /// One connection and what is known of its room.
  private final class Connection: Sendable {
    let transport: any Transport
    init(_ transport: any Transport) { self.transport = transport }
  }
  private var open: [ObjectIdentifier: Int] = [:]
  private var limits: [ObjectIdentifier: Int] = [:]

  /// - Parameters:
  ///   - first: the connection that stays.
  ///   - host: what errors call the host.
  ///   - more: makes another to the same host.
  public init(
    _ first: any Transport, host: String,
    more: @escaping @Sendable () async throws(SSHError) -> any Transport
  ) {
    agreement = first.agreement
    (self.host, self.more) = (host, more)
    connections = [Connection(first)]
  }

  /// Starts `command` on the first connection that has room, or on a new one.
  ///
  /// - Throws: `SSHError`, kind `.tooManyChannels` when there are as many connections as may be and
  ///   all are full.
  public func execute(
    _ command: String, deadline: Duration
  ) async throws(SSHError) -> any RemoteProcess {
    var full: SSHError?
    // Held, so that no later connection gets the identity of one of these.
    var refused: [Connection] = []
    while true {
      let free = connections.first { one in
        hasRoom(one) && !refused.contains { $0 === one }
      }
      guard let connection = free else {
        // By the time this goes on, others may have filled it, or used it and closed it.
        try await connectOnceMore(insteadOf: full)
        continue
      }
      let key = ObjectIdentifier(connection)
      open[key, default: 0] += 1
      do throws(SSHError) {
        let process = try await connection.transport.execute(command, deadline: deadline)
        return SharedProcess(process) { [self] in await release(connection) }
      } catch {
        let isFull = error.kind == .tooManyChannels
        // What else is open there now is all that it takes; one at least, since what was let go of
        // counts until its command ends. Set first: a release may be the end of the connection.
        if isFull { limits[key] = max(1, open[key, default: 1] - 1) }
        await release(connection)
        guard isFull else { throw error }
        refused.append(connection)
        full = error
      }
    }
  }

  /// Closes all connections.
  public func close() async {
    isClosed = true
    let all = connections
    connections.removeAll { $0 !== all.first }
    for connection in all { await connection.transport.close() }
  }

  private func hasRoom(_ connection: Connection) -> Bool {
    let key = ObjectIdentifier(connection)
    return open[key, default: 0] < limits[key, default: Self.channelsEach]
  }

  /// Makes a further connection; callers that need one at the same moment wait for the same.
  private func connectOnceMore(insteadOf full: SSHError?) async throws(SSHError) {
    guard connections.count < Self.mostConnections, !isClosed else {
      throw full
        ?? SSHError(
          .open, .tooManyChannels, host: host,
          "All \(connections.count) connections carry as many commands as they can")
    }
    let task = connecting ?? Task { await addConnection() }
    connecting = task
    try await task.value.get()
  }

  private func addConnection() async -> Result<Void, SSHError> {
    defer { connecting = nil }
    do throws(SSHError) {
      let connection = Connection(try await more())
      guard !isClosed else {
        await connection.transport.close()
        return .failure(
          SSHError(.cancelled, .cancelled, host: host, "The connection was closed"))
      }
      connections.append(connection)
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func release(_ connection: Connection) async {
    let key = ObjectIdentifier(connection)
    open[key, default: 1] -= 1
    guard open[key] == 0, connection !== connections.first else { return }
    // Nobody needs it any more.
    connections.removeAll { $0 === connection }
    (open[key], limits[key]) = (nil, nil)
    await connection.transport.close()
  }
}
