/// Why bytes could not go to or come from a host. It names the phase, keeps the server's words, and
/// says what to do next where that is known.
public struct SSHError: Error, Sendable, Equatable {
  /// What was going on.
  public enum Phase: String, Sendable {
    case configuration, resolve, connect, banner, keyExchange, hostKey, authentication, open
    case transfer, linkDead, cancelled
  }

  /// What to conclude from it, for a program.
  public enum Kind: Sendable, Equatable {
    /// The host name, the configuration or a key file cannot be used as it is.
    case badConfiguration
    /// No connection, or it was lost: trying again may help.
    case unreachable
    /// The server is there and takes no further connection for the moment (sshd_config(5),
    /// MaxStartups).
    case busy
    /// A deadline passed.
    case timedOut
    /// No host key is known for this host and nobody confirmed the one it showed.
    case hostKeyUnknown
    /// The host showed another key than the one that is known, or a revoked one.
    case hostKeyChanged
    /// The server took none of our credentials.
    case authenticationRefused
    /// Neither side has an algorithm that the other can do, or the server said no to a request.
    case refused
    /// The server allows no further channel on this connection.
    case tooManyChannels
    /// The caller's task was cancelled.
    case cancelled
  }

  /// What was going on when it happened.
  public var phase: Phase
  /// What to conclude from it.
  public var kind: Kind
  /// The host as the user names it.
  public var host: String
  /// One sentence: what happened, with the server's words.
  public var message: String
  /// What to do about it, if that is known.
  public var advice: String?
  /// What libssh2 cannot do that was asked for here, as a noun phrase ("RSA host keys"), where the
  /// `ssh` program may well do it: only on evidence (the algorithms and methods that the server
  /// names, the configuration, a key's type), never on a guess.
  public var beyondLibSSH2: String?

  /// An error of one phase; `message` is a sentence without its full stop.
  public init(
    _ phase: Phase, _ kind: Kind, host: String, _ message: String, advice: String? = nil,
    beyondLibSSH2: String? = nil
  ) {
    self.phase = phase
    self.kind = kind
    self.host = host
    self.message = message
    self.advice = advice
    self.beyondLibSSH2 = beyondLibSSH2
  }

  /// Whether the same attempt may succeed later without the user doing anything.
  public var isWorthRetrying: Bool {
    switch kind {
    case .unreachable, .busy, .timedOut, .tooManyChannels: true
    default: false
    }
  }
}

extension SSHError: CustomStringConvertible {
  /// Host, message and advice in one line.
  public var description: String {
    "\(host): \(message)" + (advice.map { ". \($0)" } ?? "")
  }
}
