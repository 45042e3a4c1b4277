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

  /// What came of one offer.
  enum AuthenticationAnswer: Sendable, Equatable {
    case accepted
    /// With libssh2's words.
    case refused(String)
  }

  /// Offers a key whose private half is elsewhere; `sign` is asked only if the server would take it.
  func offer(
    publicKey blob: [UInt8], user: String,
    sign: @escaping @Sendable (_ data: [UInt8]) async -> Result<[UInt8], SSHError>
  ) async throws(SSHError) -> AuthenticationAnswer {
    let request = SignatureRequest()
    let answer = try await perform(
      deadline: .now + Self.signedPatience, expired: authenticationExpired(Self.signedPatience)
    ) { _ -> Result<AuthenticationAnswer, SSHError>? in
      guard let session = self.session else { return .failure(self.authenticationFailed) }
      // libssh2 passes the address of its copy of this pointer to the callback.
      var context: UnsafeMutableRawPointer? = Unmanaged.passUnretained(request).toOpaque()
      let code = libssh2_userauth_publickey(
        session, user, blob, blob.count, answerSignatureRequest, &context)
      if code == LIBSSH2_ERROR_EAGAIN, case .asked(let data) = request.state {
        request.state = .signing
        Task {
          request.state = .answered(await sign(data))
          self.wake()
        }
      }
      return self.answer(code)
    }
    if case .answered(.failure(let error)) = request.state { throw error }
    return answer
  }

  /// Offers the key of a private key file's content.
  func offer(
    privateKey content: [UInt8], user: String
  ) async throws(SSHError) -> AuthenticationAnswer {
    // libssh2 looks for a NUL behind the bytes, whatever length it was given.
    let content = content + [0]
    return try await perform(
      deadline: .now + Self.patience, expired: authenticationExpired(Self.patience)
    ) { _ -> Result<AuthenticationAnswer, SSHError>? in
      guard let session = self.session else { return .failure(self.authenticationFailed) }
      let code = content.withUnsafeBytes { bytes in
        libssh2_userauth_publickey_frommemory(
          session, user, user.utf8.count, nil, 0,
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count - 1, nil)
      }
      return self.answer(code)
    }
  }

  /// The methods that the server would take, or nil when it asks for none: it has let us in.
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

  private func answer(_ code: Int32) -> Result<AuthenticationAnswer, SSHError>? {
    switch code {
    case LIBSSH2_ERROR_EAGAIN: nil
    case 0: .success(.accepted)
    case LIBSSH2_ERROR_SOCKET_RECV, LIBSSH2_ERROR_SOCKET_SEND, LIBSSH2_ERROR_SOCKET_DISCONNECT:
      .failure(authenticationLost(code))
    default: .success(.refused(lastWords))
    }
  }

  private func authenticationLost(_ code: Int32) -> SSHError {
    var error = lost(code)
    error.phase = .authentication
    // "Too many authentication failures": the next attempt would offer the same keys again.
    if wire?.witness.disconnect?.contains("authentication failures") == true {
      error.kind = .authenticationRefused
      error.advice =
        "Name the right key: IdentityFile and IdentitiesOnly yes in the ssh configuration"
    }
    fail(error)
    return error
  }

  private var authenticationFailed: SSHError { failure ?? lost("no session") }

  private func authenticationExpired(_ patience: Duration) -> SSHError {
    SSHError(
      .authentication, .timedOut, host: host, "Authentication was not over within \(patience)")
  }
}

/// A signature that libssh2 waits for: its callback answers EAGAIN until it is there.
///
/// Sendable: it is touched on the connection's thread only, by the callback and by a task of the
/// connection's actor.
final class SignatureRequest: @unchecked Sendable {
  enum State {
    case idle
    case asked([UInt8])
    case signing
    case answered(Result<[UInt8], SSHError>)
  }

  var state = State.idle
}

private func answerSignatureRequest(
  _ session: OpaquePointer?, _ signature: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?,
  _ length: UnsafeMutablePointer<Int>?, _ data: UnsafePointer<UInt8>?, _ dataLength: Int,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
  guard let pointer = context?.pointee, let signature, let length, let data else { return -1 }
  let request = Unmanaged<SignatureRequest>.fromOpaque(pointer).takeUnretainedValue()
  switch request.state {
  case .idle:
    request.state = .asked([UInt8](UnsafeBufferPointer(start: data, count: dataLength)))
    return LIBSSH2_ERROR_EAGAIN
  case .asked, .signing: return LIBSSH2_ERROR_EAGAIN
  case .answered(.failure): return -1
  case .answered(.success(let bytes)):
    // libssh2 frees it with the session's `free`, which is the system's.
    guard let copy = malloc(bytes.count) else { return -1 }
    bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    signature.pointee = copy.assumingMemoryBound(to: UInt8.self)
    length.pointee = bytes.count
    return 0
  }
}
