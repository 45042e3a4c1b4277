/// How to make a connection: what the user chose, and whom to ask and tell.
public struct ConnectionOptions: Sendable {
  /// Which engine carries the connection.
  public var engine: EngineChoice
  /// As ssh's `-F`; nil for the user's own configuration, which is refused in a process with
  /// `POCKET_TESTING` in its environment.
  public var configurationFile: String?
  /// Takes and records the key of a host of which none is known, unless the configuration forbids it
  /// (`StrictHostKeyChecking yes`).
  public var acceptsNewHostKeys: Bool
  /// nil when there is nobody to ask.
  public var questions: Questions?
  /// Called when a phase begins, on no particular thread; it must return at once.
  public var onPhase: @Sendable (ConnectionPhase) -> Void
  /// One line for the user, as when `ssh` goes on where libssh2 cannot; called on no particular
  /// thread; it must return at once.
  public var onNotice: @Sendable (String) -> Void

  /// The user's own configuration, and nobody to ask.
  public init(
    engine: EngineChoice = .auto, configurationFile: String? = nil,
    acceptsNewHostKeys: Bool = false, questions: Questions? = nil,
    onPhase: @escaping @Sendable (ConnectionPhase) -> Void = { _ in },
    onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.engine = engine
    self.configurationFile = configurationFile
    self.acceptsNewHostKeys = acceptsNewHostKeys
    self.questions = questions
    self.onPhase = onPhase
    self.onNotice = onNotice
  }
}

/// What carries the bytes to a host.
public enum EngineChoice: String, Sendable, CaseIterable {
  /// libssh2; and the `ssh` program where the host or its configuration asks for what libssh2 cannot
  /// do.
  case auto
  case libssh2
  case openssh
}

/// A step of making a connection.
public enum ConnectionPhase: Sendable, Equatable {
  case configuring, resolving, connecting, exchangingKeys, checkingHostKey, authenticating
  /// Nothing of any command has been sent yet.
  case authenticated
}
