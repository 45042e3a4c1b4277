/// Decides whether the key that a host showed is its own.
struct HostKeyCheck: Sendable {
  let configuration: HostConfiguration
  let host: HostName
  let options: ConnectionOptions

  private static let patience = Duration.seconds(10)

  func loadKnownHosts() async throws(SSHError) -> KnownHosts {
    let (settings, host) = (configuration.hostKeys, host.text)
    return try await onOwnThread(deadline: Self.patience, expired: slowFiles) {
      do throws(SSHError) {
        var known = KnownHosts()
        for path in settings.userFiles + settings.globalFiles {
          known.add(file: path, try KnownHostsFile.read(path, host: host))
        }
        if let path = settings.revokedFile {
          known.add(revoked: try RevokedKeys(path: path, host: host))
        }
        return .success(known)
      } catch {
        return .failure(error)
      }
    }
  }

  private var slowFiles: SSHError {
    SSHError(
      .hostKey, .timedOut, host: host.text, "The known hosts files could not be read or written")
  }

  /// The user's algorithms, with the types of the known keys before the others: the list is
  /// exclusive, and a key of an unrecorded type could not be judged.
  func algorithms(_ known: KnownHosts) -> AlgorithmPreferences {
    var preferences = configuration.algorithms
    let names = known.knownTypes(of: configuration.knownHostName).flatMap(
      HostKeyOffers.signatureNames)
    // libssh2 knows no host certificates.
    guard let list = preferences.hostKey?.filter({ !$0.contains("-cert-") }) else {
      return preferences
    }
    let first = names.filter { list.contains($0) }
    preferences.hostKey = first + list.filter { !first.contains($0) }
    return preferences
  }

  /// - Parameters:
  ///   - address: the numeric address that we connected to, where there is one to be checked.
  /// - Throws: `SSHError` kind `.hostKeyUnknown` or `.hostKeyChanged`.
  func judge(
    _ key: HostKey, _ known: KnownHosts, _ offers: HostKeyOffers, address: String?
  ) async throws(SSHError) {
    let name = configuration.knownHostName
    // For ssh a certificate would count, whatever is known of the plain key.
    let isTrusted = offers.hasCertificate && known.hasAuthority(for: name)
    switch known.judge(key, of: name) {
    case .known: break
    case .revoked(let place): throw revoked(key, place)
    case .changed(let other, let place):
      let error = changed(key, from: other, place, of: name.primary)
      throw isTrusted ? withAuthority(error) : error
    case .unknown(let otherTypes):
      let beyond = offers.typeOnlySSHCanAskFor(
        known: otherTypes, allowed: configuration.algorithms.hostKey)
      // Nobody is asked what ssh can find out.
      let isForSSH = options.engine == .auto && (isTrusted || beyond != nil)
      let isConfirmed = isForSSH ? false : await isConfirmed(key, otherTypes)
      guard isConfirmed else {
        var error = unknown(key, otherTypes)
        error.beyondLibSSH2 = beyond.map { "\($0) host keys" }
        throw isTrusted ? withAuthority(error) : error
      }
      try await record(key, as: name.primary)
    }
    if configuration.hostKeys.checksAddress, let address {
      try await judge(key, known, address: address)
    }
  }

  /// ssh_config(5), CheckHostIP: the same key must be the one that is known for the address.
  private func judge(
    _ key: HostKey, _ known: KnownHosts, address: String
  ) async throws(SSHError) {
    let name = KnownHostName(host: address, port: configuration.port, alias: nil)
    if name == configuration.knownHostName { return }
    switch known.judge(key, of: name) {
    case .known: return
    case .revoked(let place): throw revoked(key, place)
    case .changed(let other, let place): throw changed(key, from: other, place, of: name.primary)
    case .unknown: try await record(key, as: name.primary)
    }
  }

  private func isConfirmed(_ key: HostKey, _ otherTypes: [String]) async -> Bool {
    let strictness = configuration.hostKeys.strictness
    if strictness == .yes { return false }
    if otherTypes.isEmpty, options.acceptsNewHostKeys || strictness == .acceptNew { return true }
    guard strictness == .ask, !configuration.batchMode, let questions = options.questions else {
      return false
    }
    return await questions.confirmHostKey(
      HostKeyQuestion(
        host: host.text, keyType: key.typeName, fingerprint: key.fingerprint,
        otherKnownTypes: otherTypes))
  }

  /// As for ssh, a key that cannot be recorded is no reason not to go on: it is confirmed.
  private func record(_ key: HostKey, as name: String) async throws(SSHError) {
    // `UserKnownHostsFile none` is the user's wish to keep no record.
    guard let path = configuration.hostKeys.userFiles.first else { return }
    try UserFiles.check(path, host: host.text)
    let hashed = configuration.hostKeys.hashesNames
    let result = try await onOwnThread(deadline: Self.patience, expired: slowFiles) {
      .success(KnownHostsFile.append(key, name: name, hashed: hashed, to: path))
    }
    if case .failure(let error) = result {
      options.onNotice("the host key of \(name) is not recorded: \(path): \(error.words)")
    }
  }
}
