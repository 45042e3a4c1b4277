/// A connection by the system's `ssh`.
///
/// It holds the connection open: when the last reference to it and its processes goes, the
/// connection is closed.
final class OpenSSHTransport: Transport {
  let engine: String
  private let connection: OpenSSHConnection

  init(_ connection: OpenSSHConnection, engine: String) {
    (self.connection, self.engine) = (connection, engine)
  }

  deinit {
    let connection = connection
    Task { await connection.close() }
  }

  func execute(
    _ command: String, deadline: Duration
  ) async throws(SSHError) -> any RemoteProcess {
    let id = try await connection.execute(command, deadline: deadline)
    return OpenSSHProcess(id, connection, self)
  }

  func close() async { await connection.close() }
}

/// A command over a master. Letting go of it abandons the channel.
///
/// What `ssh` does not pass on cannot be told: a command that a signal ended is `.unknown`, not
/// `.signal`. `.endOfFile` comes when the end is known to be none of the link's.
final class OpenSSHProcess: RemoteProcess {
  private let id: Int
  private let connection: OpenSSHConnection
  /// Keeps the connection open.
  private let transport: OpenSSHTransport

  init(_ id: Int, _ connection: OpenSSHConnection, _ transport: OpenSSHTransport) {
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
