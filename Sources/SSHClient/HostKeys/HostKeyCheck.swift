/// Decides whether the key that a host showed is its own.
struct HostKeyCheck: Sendable {
  let configuration: HostConfiguration
  let host: String
  let configurationFile: String?
  let acceptsNew: Bool
  let questions: Questions?

  private static let patience = Duration.seconds(10)

  func loadKnownHosts() async throws(SSHError) -> KnownHosts {
    let paths = configuration.userKnownHostsFiles + configuration.globalKnownHostsFiles
    let host = host
    return try await onOwnThread(deadline: Self.patience, expired: slowFiles) {
      do throws(SSHError) {
        var known = KnownHosts()
        for path in paths { known.add(file: path, try KnownHostsFile.read(path, host: host)) }
        return .success(known)
      } catch {
        return .failure(error)
      }
    }
  }

  private var slowFiles: SSHError {
    SSHError(.hostKey, .timedOut, host: host, "The known hosts files could not be read")
  }

  /// The user's algorithms, with the types of the known keys before the others: the list is
  /// exclusive, and a key of an unrecorded type could not be judged.
  func algorithms(_ known: KnownHosts) -> AlgorithmPreferences {
    var preferences = configuration.algorithms
    let names = known.knownTypes(of: configuration.knownHostName).flatMap(Self.signatureNames)
    // libssh2 knows no host certificates.
    guard let list = preferences.hostKey?.filter({ !$0.contains("-cert-") }) else {
      return preferences
    }
    let first = names.filter { list.contains($0) }
    preferences.hostKey = first + list.filter { !first.contains($0) }
    return preferences
  }

  /// RFC 8332: an RSA key has three signature algorithms.
  private static func signatureNames(of type: String) -> [String] {
    type == "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"] : [type]
  }

  /// - Throws: `SSHError` kind `.hostKeyUnknown` or `.hostKeyChanged`.
  func judge(_ key: HostKey, _ known: KnownHosts) async throws(SSHError) {
    switch known.judge(key, of: configuration.knownHostName) {
    case .known: return
    case .revoked(let place):
      throw SSHError(
        .hostKey, .hostKeyChanged, host: host,
        "The host shows a revoked \(key.typeName) key, \(key.fingerprint) (\(place))",
        advice: "Do not connect; ask whoever runs the host for its new key")
    case .changed(let other, let place):
      throw SSHError(
        .hostKey, .hostKeyChanged, host: host,
        "The host shows another \(key.typeName) key, \(key.fingerprint), than the known "
          + "\(other.fingerprint) (\(place))",
        advice: "Somebody may be listening in. If you know why it changed, run: "
          + "ssh-keygen -R '\(configuration.knownHostName.primary)' -f '\(place.file)'")
    case .unknown(let otherTypes, let authority):
      try await judgeUnknown(key, otherTypes, authority)
    }
  }

  private func judgeUnknown(
    _ key: HostKey, _ otherTypes: [String], _ authority: Bool
  ) async throws(SSHError) {
    let strictness = configuration.strictHostKeyChecking
    var isConfirmed = false
    if otherTypes.isEmpty, acceptsNew || strictness == .acceptNew {
      isConfirmed = true
    } else if strictness == .ask, !configuration.batchMode, let questions {
      isConfirmed = await questions.confirmHostKey(
        HostKeyQuestion(
          host: host, keyType: key.typeName, fingerprint: key.fingerprint,
          otherKnownTypes: otherTypes))
    }
    guard isConfirmed else { throw unknown(key, otherTypes, authority) }
    // `UserKnownHostsFile none` is the user's wish to keep no record.
    guard let path = configuration.userKnownHostsFiles.first else { return }
    let (name, hashed, host) = (
      configuration.knownHostName, configuration.hashesKnownHosts, host
    )
    try await onOwnThread(deadline: Self.patience, expired: slowFiles) {
      do throws(SSHError) {
        try KnownHostsFile.append(key, name: name, hashed: hashed, to: path, host: host)
        return .success(())
      } catch {
        return .failure(error)
      }
    }
  }

  private func unknown(
    _ key: HostKey, _ otherTypes: [String], _ authority: Bool
  ) -> SSHError {
    var message = "The host's \(key.typeName) key, \(key.fingerprint), is not known"
    if !otherTypes.isEmpty {
      message += "; known for this host is only \(otherTypes.joined(separator: ", "))"
    }
    if authority {
      message += "; a certificate authority is, but host certificates are not supported yet"
    }
    let command =
      ["ssh"] + (configurationFile.map { ["-F", "'\($0)'"] } ?? [])
      + ["-p", String(configuration.port), "\(configuration.user)@\(configuration.hostName)"]
    return SSHError(
      .hostKey, .hostKeyUnknown, host: host, message,
      advice: "Compare the fingerprint with the host's own, then confirm it by running: "
        + command.joined(separator: " "))
  }
}
