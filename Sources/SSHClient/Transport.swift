/// One authenticated connection to a host: bytes to and from commands, and nothing about jobs.
///
/// An engine's connection is an actor on a thread of its own; all calls may be made from anywhere.
/// When the link is lost, every pending and later call throws `SSHError`.
public protocol Transport: AnyObject, Sendable {
  /// What carries it, with its version: `libssh2 1.10.0`, `OpenSSH_9.2p1`.
  var engine: String { get }

  /// What was agreed on while connecting.
  var agreement: ConnectionDescription { get }

  /// Starts `command` (at most 30,000 bytes) on a new channel, without a terminal.
  ///
  /// - Parameter deadline: how long opening the channel and the server's answer may take.
  /// - Throws: `SSHError` with phase `.open`.
  func execute(_ command: String, deadline: Duration) async throws(SSHError) -> any RemoteProcess

  /// Tears the connection down at once: every channel ends, pending calls throw. Idempotent.
  func close() async
}

/// A command that runs on the host, on one channel.
///
/// Reading is by demand: what is not read stays in the SSH window, so a slow reader slows the
/// sender down. At most one `read` and one `write` may be pending at a time.
public protocol RemoteProcess: AnyObject, Sendable {
  /// The next bytes (at most 256 KiB) of either stream, or `.endOfFile` when both have ended.
  /// Cancelling the task ends the wait with `SSHError` phase `.cancelled` and loses no byte.
  func read() async throws(SSHError) -> RemoteOutput

  /// Sends all of `bytes` to the command's stdin; returns when the last has been handed to SSH.
  func write(_ bytes: [UInt8]) async throws(SSHError)

  /// Sends end of file on the command's stdin.
  func closeStandardInput() async throws(SSHError)

  /// How the command ended; to be asked after `.endOfFile`. An engine never reports success that
  /// the server has not: no status is `.unknown`.
  func exit() async -> RemoteExit

  /// Lets go of the channel without waiting for the peer, who closes it only when the command ends.
  func abandon() async
}

/// What one read gave.
public enum RemoteOutput: Sendable, Equatable {
  case standardOutput([UInt8])
  case standardError([UInt8])
  case endOfFile
}

/// How a remote command ended, as far as the server said.
public enum RemoteExit: Sendable, Equatable {
  /// The exit status that the server sent, 0 to 255.
  case code(Int)
  /// The signal's name without `SIG`, as RFC 4254 §6.10 sends it (`KILL`).
  case signal(String)
  /// The server sent neither, or the engine was not told which: the `ssh` program keeps a signal to
  /// itself.
  case unknown
}

/// Makes connections to one host. PocketKit holds one of these; a test gives another.
public protocol Connector: Sendable {
  /// What errors and messages call the host.
  var hostName: String { get }

  /// Resolves, connects, checks the host key and authenticates; every phase has its own deadline.
  func connect() async throws(SSHError) -> any Transport
}
