import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Speaks to an ssh-agent (draft-miller-ssh-agent) over its Unix socket.
///
/// Our own, since libssh2's waits without a limit; here each request has a connection, a thread and
/// a deadline of its own.
struct AgentClient: Sendable {
  struct Identity: Sendable, Equatable {
    var blob: [UInt8]
    var comment: String
  }

  let path: String
  /// What errors call the host.
  let host: String

  private static let listPatience = Duration.seconds(5)
  /// An agent may ask its user for leave.
  private static let signPatience = Duration.seconds(60)

  private enum Message {
    static let requestIdentities: UInt8 = 11
    static let identitiesAnswer: UInt8 = 12
    static let signRequest: UInt8 = 13
    static let signResponse: UInt8 = 14
  }

  func identities() async throws(SSHError) -> [Identity] {
    let answer = try await ask([Message.requestIdentities], Self.listPatience)
    let identities = answer.withUnsafeBytes { bytes -> [Identity]? in
      var reader = PacketReader(bytes[...])
      guard reader.byte() == Message.identitiesAnswer, let count = reader.number() else {
        return nil
      }
      var found: [Identity] = []
      for _ in 0..<count {
        guard let blob = reader.bytes(), let comment = reader.text() else { return nil }
        found.append(Identity(blob: blob, comment: comment))
      }
      return found
    }
    guard let identities else { throw refuse("it did not list its keys") }
    return identities
  }

  struct Signature: Sendable {
    /// What the agent signed with: some ignore the flags and sign with SHA-1.
    var algorithm: String
    /// Without the name of the algorithm before them.
    var bytes: [UInt8]
  }

  /// - Parameter algorithm: its name on the wire, a certificate's too.
  func sign(
    _ data: [UInt8], with blob: [UInt8], _ algorithm: String
  ) async throws(SSHError) -> Signature {
    var request: [UInt8] = [Message.signRequest]
    request.appendField(blob)
    request.appendField(data)
    request.appendNumber(Self.flags(algorithm))
    let answer = try await ask(request, Self.signPatience)
    let signature = answer.withUnsafeBytes { bytes -> Signature? in
      var reader = PacketReader(bytes[...])
      guard reader.byte() == Message.signResponse, let whole = reader.bytes() else { return nil }
      return whole.withUnsafeBytes { bytes in
        var reader = PacketReader(bytes[...])
        guard let algorithm = reader.text(), let bytes = reader.bytes() else { return nil }
        return Signature(algorithm: algorithm, bytes: bytes)
      }
    }
    guard let signature else { throw refuse("it did not sign") }
    return signature
  }

  /// SSH_AGENT_RSA_SHA2_256 and SSH_AGENT_RSA_SHA2_512 (draft-miller-ssh-agent §3.6.1).
  private static func flags(_ algorithm: String) -> Int {
    algorithm.hasPrefix("rsa-sha2-512") ? 4 : algorithm.hasPrefix("rsa-sha2-256") ? 2 : 0
  }

  private func ask(_ request: [UInt8], _ patience: Duration) async throws(SSHError) -> [UInt8] {
    let expired = SSHError(
      .authentication, .timedOut, host: host,
      "The agent at \(path) did not answer within \(patience)")
    return try await onOwnThread(deadline: patience, expired: expired) { [self] in
      exchange(request, until: .now + patience, expired)
    }
  }

  /// Blocks until the answer is whole or the time is over.
  private func exchange(
    _ request: [UInt8], until end: ContinuousClock.Instant, _ expired: SSHError
  ) -> Result<[UInt8], SSHError> {
    let socket = pocket_stream_socket(AF_UNIX)
    guard socket >= 0 else { return .failure(refuse(SystemError.last().words)) }
    defer { close(socket) }
    guard connectUnix(socket, path) else { return .failure(refuse(SystemError.last().words)) }
    var outgoing: [UInt8] = []
    outgoing.appendField(request)
    var rest = outgoing[...]
    var incoming: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let left = end - .now
      if left <= .zero { return .failure(expired) }
      var entry = pollfd(
        fd: socket, events: Int16(rest.isEmpty ? POLLIN : POLLOUT), revents: 0)
      poll(&entry, 1, left.pollMilliseconds)
      if entry.revents == 0 { continue }
      let count =
        rest.isEmpty
        ? recv(socket, &chunk, chunk.count, 0)
        : rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, sendFlags) }
      if count < 0 {
        if errno == EAGAIN || errno == EINTR { continue }
        return .failure(refuse(SystemError.last().words))
      }
      if !rest.isEmpty {
        rest = rest.dropFirst(count)
        continue
      }
      if count == 0 { return .failure(refuse("it hung up")) }
      incoming += chunk[..<count]
      let answer = incoming.withUnsafeBytes { bytes in
        var reader = PacketReader(bytes[...])
        return reader.bytes()
      }
      if let answer { return .success(answer) }
      if incoming.count > 1 << 20 { return .failure(refuse("its answer is too long")) }
    }
  }

  private func refuse(_ words: String) -> SSHError {
    SSHError(
      .authentication, .badConfiguration, host: host, "The agent at \(path): \(words)")
  }
}

#if canImport(Glibc)
  private let sendFlags = Int32(MSG_NOSIGNAL)
#else
  private let sendFlags: Int32 = 0
#endif

/// connect(2) on a Unix socket succeeds or fails at once; false with errno set.
private func connectUnix(_ socket: Int32, _ path: String) -> Bool {
  var address = sockaddr_un()
  let bytes = path.utf8CString
  guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
    errno = ENAMETOOLONG
    return false
  }
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { target in
    bytes.withUnsafeBytes { target.copyMemory(from: $0) }
  }
  return withUnsafeBytes(of: &address) {
    $0.withMemoryRebound(to: sockaddr.self) {
      connect(socket, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  } == 0
}

extension [UInt8] {
  /// RFC 4251 §5, `uint32`.
  mutating func appendNumber(_ value: Int) {
    for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  /// RFC 4251 §5, `string`.
  mutating func appendField(_ bytes: [UInt8]) {
    appendNumber(bytes.count)
    append(contentsOf: bytes)
  }
}
