/// One key or certificate that can be offered.
struct KeyCandidate: Sendable {
  enum Signer: Sendable {
    /// The agent signs with the key that it knows by this blob.
    case agent(AgentClient, blob: [UInt8])
    case file(PrivateKeyFile)
  }

  /// What messages call it.
  var name: String
  /// What is offered; nil where only a passphrase will tell.
  var blob: [UInt8]?
  var certificate: NamedCertificate?
  var signer: Signer

  /// RFC 4253 §6.6, or the certificate's; empty when it is unknown.
  var type: String { blob.flatMap(HostKey.init(blob:))?.type ?? "" }

  var isRSA: Bool { type.hasPrefix("ssh-rsa") }

  /// What PubkeyAcceptedAlgorithms may call it (RFC 8332 §3).
  var algorithms: [String] {
    guard isRSA else { return [type] }
    let suffix = type == "ssh-rsa" ? "" : Certificate.suffix
    return ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"].map { $0 + suffix }
  }

  /// In OpenSSH's order: certificates that were named, the agent's keys that are named as files,
  /// the agent's others, the files' own. A certificate goes before its plain key.
  static func ordered(
    _ files: [IdentityFile], _ certificates: [NamedCertificate],
    agent: (client: AgentClient, identities: [AgentClient.Identity])?, onlyNamed: Bool
  ) -> [KeyCandidate] {
    var candidates: [KeyCandidate] = []
    func add(_ candidate: KeyCandidate) {
      let isKnown = candidates.contains { $0.blob != nil && $0.blob == candidate.blob }
      if !isKnown { candidates.append(candidate) }
    }
    func agentKey(_ blobs: [UInt8]?...) -> KeyCandidate? {
      guard let agent else { return nil }
      for case let blob? in blobs {
        guard let found = agent.identities.first(where: { $0.blob == blob }) else { continue }
        return KeyCandidate(
          name: "\(found.comment) (agent)", blob: blob, signer: .agent(agent.client, blob: blob))
      }
      return nil
    }
    func add(_ certificate: NamedCertificate, _ key: KeyCandidate) {
      var candidate = key
      candidate.name = certificate.path
      candidate.blob = certificate.certificate.blob
      candidate.certificate = certificate
      add(candidate)
    }
    for named in certificates {
      let plain = named.certificate.publicKey
      if let key = agentKey(named.certificate.blob, plain) {
        add(named, key)
      } else if let key = files.first(where: { $0.publicKey == plain })?.candidate {
        add(named, key)
      }
    }
    for file in files {
      let key = agentKey(file.publicKey)
      if let certificate = file.certificate,
        let holder = agentKey(certificate.certificate.blob) ?? key
      {
        add(certificate, holder)
      }
      if let key { add(key) }
    }
    if !onlyNamed, let agent {
      for identity in agent.identities { agentKey(identity.blob).map(add) }
    }
    for file in files {
      guard let key = file.candidate else { continue }
      if let certificate = file.certificate { add(certificate, key) }
      add(key)
    }
    return candidates
  }
}

extension IdentityFile {
  /// The file's own plain key.
  fileprivate var candidate: KeyCandidate? {
    key.map { KeyCandidate(name: path, blob: publicKey, signer: .file($0)) }
  }
}
