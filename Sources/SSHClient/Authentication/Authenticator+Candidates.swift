extension Authenticator {
  /// Looks at the files and asks the agent.
  mutating func loadCandidates() async throws(SSHError) -> [KeyCandidate] {
    let (preferences, host) = (configuration.authentication, host)
    let files = try await IdentityFile.load(configuration.identityFiles, host: host)
    record.obstacles += files.compactMap(\.problem)
    let certificates = try await IdentityFile.read(host: host) { () throws(SSHError) in
      var found: [(String, NamedCertificate?)] = []
      for path in preferences.certificateFiles {
        found.append((path, try NamedCertificate.read(path, host: host)))
      }
      return found
    }
    for (path, certificate) in certificates where certificate == nil {
      record.obstacles.append("\(path) is no certificate for a user's key")
    }
    let candidates = KeyCandidate.ordered(
      files, certificates.compactMap(\.1), agent: try await askAgent(),
      onlyNamed: configuration.identitiesOnly)
    for case (let path, let certificate?) in certificates
    where !candidates.contains(where: { $0.blob == certificate.certificate.blob }) {
      record.obstacles.append("the key of the certificate \(path) is not at hand")
    }
    return candidates
  }

  private mutating func askAgent() async throws(SSHError) -> (
    client: AgentClient, identities: [AgentClient.Identity]
  )? {
    guard let path = configuration.identityAgent else { return nil }
    let client = AgentClient(path: path, host: host)
    do throws(SSHError) {
      return (client, try await client.identities())
    } catch {
      if error.kind == .cancelled { throw error }
      // As with ssh, a missing agent is no reason not to try the files.
      record.obstacles.append(error.message)
      return nil
    }
  }
}
