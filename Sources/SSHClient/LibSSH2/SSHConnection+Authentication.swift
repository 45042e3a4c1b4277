import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension SSHConnection {
  /// Covers an agent that asks its user for leave.
  private static let signedPatience = Duration.seconds(75)
  private static let patience = Duration.seconds(30)

  /// What came of one attempt.
  enum AuthenticationAnswer: Sendable, Equatable {
    case accepted
    /// One step of several is done; what the server wants next.
    case partial(next: [String])
    /// `canGoOn` is nil when the server was not even asked. The words are libssh2's.
    case refused(canGoOn: [String]?, code: Int32, words: String)
    /// The server would take the key; it was not used.
    case welcome
  }

  /// As the server's first line has it.
  var serverBanner: String {
    session.flatMap { libssh2_session_banner_get($0) }.map { String(cString: $0) } ?? ""
  }

  // MARK: Keys

  /// Offers a key whose private half is elsewhere; `sign` is asked only if the server would take it.
  func offer(
    publicKey blob: [UInt8], user: String,
    sign: @escaping @Sendable (SignatureRequest.Order) async -> Result<[UInt8], SSHError>
  ) async throws(SSHError) -> AuthenticationAnswer {
    let request = SignatureRequest()
    let answer = try await offer(blob, user, request) { order in
      Task {
        request.state = .answered(await sign(order))
        self.wake()
      }
    }
    if case .answered(.failure(let error)) = request.state { throw error }
    return answer
  }

  /// Asks whether the server would take a key.
  func offer(
    publicKeyOnly blob: [UInt8], user: String
  ) async throws(SSHError) -> AuthenticationAnswer {
    let request = SignatureRequest()
    request.state = .declined(wasAsked: false)
    let answer = try await offer(blob, user, request) { _ in }
    if case .declined(wasAsked: true) = request.state { return .welcome }
    return answer
  }

  private func offer(
    _ blob: [UInt8], _ user: String, _ request: SignatureRequest,
    start: @escaping (SignatureRequest.Order) -> Void
  ) async throws(SSHError) -> AuthenticationAnswer {
    try await attempt(Self.signedPatience) { session in
      // libssh2 passes the address of its copy of this pointer to the callback.
      var context: UnsafeMutableRawPointer? = Unmanaged.passUnretained(request).toOpaque()
      let code = libssh2_userauth_publickey(
        session, user, blob, blob.count, answerSignatureRequest, &context)
      if code == LIBSSH2_ERROR_EAGAIN, case .asked(let order) = request.state {
        request.state = .signing
        start(order)
      }
      return code
    }
  }

  // MARK: Others

  func offer(password: Secret, user: String) async throws(SSHError) -> AuthenticationAnswer {
    try await attempt(Self.patience) { session in
      password.withBytes { bytes in
        libssh2_userauth_password_ex(
          session, user, UInt32(user.utf8.count),
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(bytes.count), nil)
      }
    }
  }

  /// The methods that the server would take, or nil when it asks for none: it has let us in. It
  /// costs a round trip, which an attempt's answer makes unnecessary.
  func acceptedMethods(user: String) async throws(SSHError) -> [String]? {
    try await perform(
      deadline: .now + Self.patience, expired: authenticationExpired(Self.patience)
    ) { _ -> Result<[String]?, SSHError>? in
      guard let session = self.session else { return .failure(self.authenticationFailed) }
      if let list = libssh2_userauth_list(session, user, UInt32(user.utf8.count)) {
        return .success(String(cString: list).split(separator: ",").map(String.init))
      }
      if libssh2_userauth_authenticated(session) == 1 { return .success(nil) }
      let code = libssh2_session_last_errno(session)
      return code == LIBSSH2_ERROR_EAGAIN ? nil : .failure(self.authenticationLost(code))
    }
  }

  /// Calls libssh2 until it has an answer; what the server said is seen in its packet.
  func attempt(
    _ patience: Duration, _ call: @escaping (OpaquePointer) -> Int32
  ) async throws(SSHError) -> AuthenticationAnswer {
    wire?.witness.loginFailure = nil
    return try await perform(
      deadline: .now + patience, expired: authenticationExpired(patience)
    ) { _ -> Result<AuthenticationAnswer, SSHError>? in
      guard let session = self.session else { return .failure(self.authenticationFailed) }
      let code = call(session)
      switch code {
      case LIBSSH2_ERROR_EAGAIN: return nil
      case 0: return .success(.accepted)
      case LIBSSH2_ERROR_SOCKET_RECV, LIBSSH2_ERROR_SOCKET_SEND, LIBSSH2_ERROR_SOCKET_DISCONNECT:
        return .failure(self.authenticationLost(code))
      default: break
      }
      if let failure = self.wire?.witness.loginFailure {
        return .success(
          failure.isPartialSuccess
            ? .partial(next: failure.canGoOn)
            : .refused(canGoOn: failure.canGoOn, code: code, words: self.lastWords))
      }
      // Some of libssh2's answers hide that the connection is gone.
      if self.wire?.witness.disconnect != nil { return .failure(self.authenticationLost(code)) }
      return .success(.refused(canGoOn: nil, code: code, words: self.lastWords))
    }
  }

  func authenticationLost(_ code: Int32) -> SSHError {
    var error = lost(code)
    error.phase = .authentication
    // "Too many authentication failures": the next attempt would offer the same keys again.
    if wire?.witness.disconnect?.contains("authentication failures") == true {
      error.kind = .authenticationRefused
      error.advice =
        "Name the right key: IdentityFile and IdentitiesOnly yes in the ssh configuration"
    }
    // libssh2 takes a packet of 40,000 bytes; sshd sends its whole Banner in one. Nothing else that a
    // server says before the login is as long.
    if code == LIBSSH2_ERROR_OUT_OF_BOUNDARY {
      error.kind = .refused
      error.beyondLibSSH2 = "a login banner of more than 40,000 bytes"
    }
    fail(error)
    return error
  }

  private var authenticationFailed: SSHError { failure ?? lost("no session") }

  func authenticationExpired(_ patience: Duration) -> SSHError {
    SSHError(
      .authentication, .timedOut, host: host, "Authentication was not over within \(patience)")
  }
}
