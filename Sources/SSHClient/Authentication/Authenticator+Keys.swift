#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Authenticator {
  /// sshd's MaxAuthTries is 6 where nobody has changed it, and at the sixth refusal it hangs up.
  private static let mostKeysBeforeQuestions = 5

  /// Offers one key after another.
  mutating func tryKeys(_ connection: SSHConnection) async throws(SSHError) -> Outcome {
    if candidates == nil { candidates = try await loadCandidates() }
    while let candidate = candidates?.first, isAccepted(.publicKey) {
      if refusedOffers >= Self.mostKeysBeforeQuestions, canStillAsk {
        record.obstacles.append(
          "\(candidates?.count ?? 0) keys were not offered, to leave the server's last try for a "
            + "password: name the right key by IdentityFile and IdentitiesOnly yes")
        break
      }
      candidates?.removeFirst()
      if let outcome = try await offer(candidate, connection) { return outcome }
    }
    return .exhausted
  }

  private var canStillAsk: Bool {
    questions != nil
      && configuration.authentication.methods.contains { $0.asksUser && isAccepted($0) }
  }

  /// - Parameter unlocked: the key of an encrypted file.
  mutating func offer(
    _ candidate: KeyCandidate, unlocked: SigningKey? = nil, _ connection: SSHConnection
  ) async throws(SSHError) -> Outcome? {
    if let accepted = configuration.authentication.publicKeyAlgorithms, candidate.blob != nil,
      accepted.isDisjoint(with: candidate.algorithms)
    {
      record.obstacles.append(
        "\(candidate.name) is left out, since PubkeyAcceptedAlgorithms does not name "
          + candidate.type)
      return nil
    }
    if let limit = KeyLimit(candidate, abilities, software) {
      return try await askAbout(candidate, limit, connection)
    }
    switch candidate.signer {
    case .agent: return try await offerSigned(candidate, nil, connection)
    case .file(let file):
      if let unlocked { return try await offerSigned(candidate, unlocked, connection) }
      switch file.form {
      case .ready(let key): return try await offerSigned(candidate, key, connection)
      case .encrypted, .encryptedPEM:
        return try await offerEncrypted(candidate, file, connection)
      case .onSecurityKey, .unusable: return nil
      }
    }
  }

  /// libssh2 cannot use it, but it can ask whether it would have been of use.
  private mutating func askAbout(
    _ candidate: KeyCandidate, _ limit: KeyLimit, _ connection: SSHConnection
  ) async throws(SSHError) -> Outcome? {
    if limit.canBeAskedAbout {
      let answer = try await wouldTake(candidate, connection)
      guard answer == .welcome else { return note(answer, of: described(candidate)) }
      record.isBetterServedByOpenSSH = true
    }
    record.beyondLibSSH2.append(limit.noun)
    record.obstacles.append("\(candidate.name): \(limit.explanation)")
    return nil
  }

  /// A round trip that costs the user nothing: as with ssh, a passphrase is asked for only where it
  /// is of use.
  func wouldTake(
    _ candidate: KeyCandidate, _ connection: SSHConnection
  ) async throws(SSHError) -> Answer {
    guard let blob = candidate.blob else { return .welcome }
    let name = rsaAlgorithms(candidate).first
    return try await connection.offer(
      publicKeyOnly: name.map { PublicKeyBlob.renamed(blob, to: $0) } ?? blob, user: user)
  }

  /// The names under which an RSA key is offered to OpenSSH. libssh2 takes the algorithm from the
  /// blob's first string, and 1.10 has no other way to one with SHA-2; OpenSSH takes these names
  /// for a key's type too, other servers do not.
  private func rsaAlgorithms(_ candidate: KeyCandidate) -> [String] {
    guard candidate.type == "ssh-rsa", software.knowsRSAWithSHA2 else { return [] }
    let names = ["rsa-sha2-512", "rsa-sha2-256"]
    guard let accepted = configuration.authentication.publicKeyAlgorithms else { return names }
    return names.filter(accepted.contains)
  }

  /// Offers a key with which we or the agent sign.
  private mutating func offerSigned(
    _ candidate: KeyCandidate, _ key: SigningKey?, _ connection: SSHConnection
  ) async throws(SSHError) -> Outcome? {
    guard let blob = candidate.blob else { return nil }
    let names = rsaAlgorithms(candidate)
    let blobs = names.isEmpty ? [blob] : names.map { PublicKeyBlob.renamed(blob, to: $0) }
    var failure: SSHError?
    for blob in blobs {
      do throws(SSHError) {
        let answer = try await connection.offer(publicKey: blob, user: user) {
          [signer = candidate.signer, host] order in
          await Self.sign(order, signer, key, host: host)
        }
        return note(answer, of: described(candidate))
      } catch {
        // An agent that does not sign is no reason not to go on; a lost connection is.
        guard error.kind == .refused || error.kind == .badConfiguration else { throw error }
        failure = error
        // Only another hash can help, and only against an agent's own choice.
        if error.kind == .badConfiguration { break }
      }
    }
    if let failure { record.obstacles.append("\(candidate.name): \(failure.message)") }
    return nil
  }

  private static func sign(
    _ order: SignatureRequest.Order, _ signer: KeyCandidate.Signer, _ key: SigningKey?, host: String
  ) async -> Result<[UInt8], SSHError> {
    func refuse(_ kind: SSHError.Kind, _ words: String) -> Result<[UInt8], SSHError> {
      .failure(SSHError(.authentication, kind, host: host, words))
    }
    switch signer {
    case .file:
      guard let signature = key?.sign(order.data, order.algorithm) else {
        return refuse(.badConfiguration, "OpenSSL did not sign by \(order.algorithm)")
      }
      return .success(signature)
    case .agent(let client, let blob):
      do throws(SSHError) {
        let signature = try await client.sign(order.data, with: blob, order.algorithm)
        guard order.algorithm.hasPrefix(signature.algorithm) else {
          return refuse(
            .refused, "the agent signed by \(signature.algorithm), not by \(order.algorithm)")
        }
        return .success(signature.bytes)
      } catch {
        return .failure(error)
      }
    }
  }

  func described(_ candidate: KeyCandidate) -> String {
    guard let certificate = candidate.certificate?.certificate,
      certificate.validBefore <= UInt64(max(0, time(nil)))
    else { return candidate.name }
    return candidate.name + " (an expired certificate)"
  }
}
