import CSSH2

/// A connection by libssh2.
///
/// It holds the connection open: when the last reference to it and its processes goes, the
/// connection is closed.
final class LibSSH2Transport: Transport {
  /// The library that was loaded, not the one that this was built with.
  static let version = "libssh2 " + (libssh2_version(0).map { String(cString: $0) } ?? "?")
  var engine: String { Self.version }
  private let connection: SSHConnection

  init(_ connection: SSHConnection) { self.connection = connection }

  deinit {
    let connection = connection
    Task { await connection.close() }
  }

  func execute(
    _ command: String, deadline: Duration
  ) async throws(SSHError) -> any RemoteProcess {
    let id = try await connection.execute(command, deadline: deadline)
    return LibSSH2Process(id, connection, self)
  }

  func close() async { await connection.close() }
}

/// A command on one channel of a libssh2 connection. Letting go of it abandons the channel.
final class LibSSH2Process: RemoteProcess {
  private let id: UInt32
  private let connection: SSHConnection
  /// Keeps the connection open.
  private let transport: LibSSH2Transport

  init(_ id: UInt32, _ connection: SSHConnection, _ transport: LibSSH2Transport) {
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
