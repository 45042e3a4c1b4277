/// Logs in, in OpenSSH's order (ssh_config(5), PreferredAuthentications): method by method, as long
/// as the server wants one more.
struct Authenticator: Sendable {
  typealias Method = AuthenticationPreferences.Method
  typealias Answer = SSHConnection.AuthenticationAnswer

  let configuration: HostConfiguration
  let host: String
  /// nil when there is nobody to ask.
  let questions: Questions?
  /// Whether the `ssh` program goes on where libssh2 cannot: then it does before the user is asked.
  let stepsAside: Bool
  let abilities = LibSSH2Abilities.here

  var record = AuthenticationRecord()
  var software = ServerSoftware(banner: "")
  /// The keys that have not been offered yet; nil before the files and the agent were looked at.
  var candidates: [KeyCandidate]?
  /// How many offers the server has counted (sshd_config(5), MaxAuthTries).
  var refusedOffers = 0

  /// What came of one method.
  enum Outcome {
    case accepted
    /// The server wants a further method (RFC 4252 §5.1, partial success).
    case partial
    /// Nothing more of this method can help.
    case exhausted
  }

  private static let nobodyToAsk =
    "The server would take a password or an answer, and there is nobody to ask: run this at a "
    + "terminal, or set SSH_ASKPASS"
  /// More steps than any server asks for.
  private static let mostSteps = 8

  init(
    _ configuration: HostConfiguration, host: String, questions: Questions?,
    stepsAside: Bool = false
  ) {
    (self.configuration, self.host) = (configuration, host)
    self.questions = configuration.batchMode ? nil : questions
    self.stepsAside = stepsAside
  }

  var user: String { configuration.user }

  /// - Throws: `SSHError` that names what was tried and what the server would still take.
  mutating func authenticate(_ connection: SSHConnection) async throws(SSHError) {
    software = ServerSoftware(banner: await connection.serverBanner)
    do throws(SSHError) {
      try await goThroughMethods(connection)
    } catch {
      throw record.explaining(error)
    }
  }

  private mutating func goThroughMethods(_ connection: SSHConnection) async throws(SSHError) {
    var exhausted: Set<Method> = []
    var steps = 0
    while true {
      let open = configuration.authentication.methods.filter { !exhausted.contains($0) }
      // To a key the server says by itself what it takes; a question must not be asked in vain.
      if record.canGoOn == nil, open.first(where: isOurs) != .publicKey {
        record.canGoOn = try await connection.acceptedMethods(user: user)
        if record.canGoOn == nil { return }
      }
      guard let method = open.first(where: { isOurs($0) && isAccepted($0) }) else {
        noteForeignMethods()
        throw record.refusal(user: user, host: host)
      }
      switch try await attempt(method, connection) {
      case .accepted: return
      case .exhausted: exhausted.insert(method)
      case .partial:
        exhausted = []
        steps += 1
        if steps == Self.mostSteps { throw record.refusal(user: user, host: host) }
      }
    }
  }

  private mutating func attempt(
    _ method: Method, _ connection: SSHConnection
  ) async throws(SSHError) -> Outcome {
    if method.asksUser {
      if stepsAside, record.isBetterServedByOpenSSH {
        throw record.refusal(user: user, host: host)
      }
      guard questions != nil else {
        // Once, though there be two such methods.
        if !record.obstacles.contains(Self.nobodyToAsk) {
          record.obstacles.append(Self.nobodyToAsk)
        }
        return .exhausted
      }
    }
    switch method {
    case .publicKey: return try await tryKeys(connection)
    case .password: return try await tryPasswords(connection)
    case .keyboardInteractive: return try await tryKeyboardInteractive(connection)
    case .gssapi, .hostBased: return .exhausted
    }
  }

  /// libssh2 has no GSSAPI; its host-based method wants the host's private key, which only a
  /// program with set-user-ID (ssh-keysign(8)) may read.
  private func isOurs(_ method: Method) -> Bool { method != .gssapi && method != .hostBased }

  func isAccepted(_ method: Method) -> Bool {
    record.canGoOn?.contains(method.rawValue) ?? true
  }

  private mutating func noteForeignMethods() {
    for method in configuration.authentication.methods where !isOurs(method) && isAccepted(method) {
      record.beyondLibSSH2.append("authentication by \(method.rawValue)")
    }
  }

  /// Takes an answer to one offer into the record.
  ///
  /// - Returns: nil when the next offer is due.
  mutating func note(_ answer: Answer, of name: String) -> Outcome? {
    switch answer {
    case .accepted:
      record.taken.append(name)
      return .accepted
    case .partial(let next):
      record.canGoOn = next
      record.taken.append(name)
      return .partial
    case .welcome: return nil
    case .refused(let canGoOn, let code, let words):
      if let canGoOn {
        record.canGoOn = canGoOn
        record.refused.append(name)
        refusedOffers += 1
      } else {
        record.obstacles.append("\(name) could not be used (libssh2 \(code), \(words))")
      }
      return nil
    }
  }
}
