/// What an engine's connection does for its commands, which it knows by numbers.
protocol EngineConnection: Actor {
  associatedtype ChannelID: Sendable

  func execute(_ command: String, deadline: Duration) async throws(SSHError) -> ChannelID
  func read(_ id: ChannelID) async throws(SSHError) -> RemoteOutput
  func write(_ bytes: [UInt8], to id: ChannelID) async throws(SSHError)
  func closeStandardInput(_ id: ChannelID) async throws(SSHError)
  func exit(_ id: ChannelID) async -> RemoteExit
  /// Nobody uses the channel any more.
  func park(_ id: ChannelID)
  /// Idempotent.
  func close()
}

/// An engine's connection as the rest knows it.
///
/// It holds the connection open: when the last reference to it and its processes goes, the
/// connection is closed.
final class EngineTransport<Connection: EngineConnection>: Transport {
  let agreement: ConnectionDescription
  var engine: String { agreement.engine }
  private let connection: Connection

  init(_ connection: Connection, _ agreement: ConnectionDescription) {
    (self.connection, self.agreement) = (connection, agreement)
  }

  deinit {
    let connection = connection
    Task { await connection.close() }
  }

  func execute(
    _ command: String, deadline: Duration
  ) async throws(SSHError) -> any RemoteProcess {
    let id = try await connection.execute(command, deadline: deadline)
    return EngineProcess(id, connection, self)
  }

  func close() async { await connection.close() }
}

/// A command on one channel of an engine's connection. Letting go of it abandons the channel.
final class EngineProcess<Connection: EngineConnection>: RemoteProcess {
  private let id: Connection.ChannelID
  private let connection: Connection
  /// Keeps the connection open.
  private let transport: EngineTransport<Connection>

  init(
    _ id: Connection.ChannelID, _ connection: Connection, _ transport: EngineTransport<Connection>
  ) {
    (self.id, self.connection, self.transport) = (id, connection, transport)
  }

  deinit {
    let (connection, id) = (connection, id)
    Task { await connection.park(id) }
  }

  func read() async throws(SSHError) -> RemoteOutput { try await connection.read(id) }

  func write(_ bytes: [UInt8]) async throws(SSHError) { try await connection.write(bytes, to: id) }

  func closeStandardInput() async throws(SSHError) { try await connection.closeStandardInput(id) }

  func exit() async -> RemoteExit { await connection.exit(id) }

  func abandon() async { await connection.park(id) }
}
