/// Tries the user's keys in OpenSSH's order (ssh_config(5), IdentityFile, IdentitiesOnly): the
/// agent's keys that are named as identity files, the agent's others, then the files themselves.
struct Authenticator: Sendable {
  let configuration: HostConfiguration
  let host: String
  let questions: Questions?

  /// What was offered and refused.
  private var tried: [String] = []
  /// What could not even be offered, and what to do about it.
  private var obstacles: [String] = []

  init(_ configuration: HostConfiguration, host: String, questions: Questions?) {
    (self.configuration, self.host, self.questions) = (configuration, host, questions)
  }

  /// libssh2 1.10 signs with these only; RSA it signs with SHA-1, which servers refuse.
  private static let usableTypes: Set<String> = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
  ]

  mutating func authenticate(_ connection: SSHConnection) async throws(SSHError) {
    if configuration.usesPublicKeys {
      if try await tryKeys(connection) { return }
    } else {
      obstacles.append("PubkeyAuthentication is off, and keys are all that is supported yet")
    }
    guard let methods = try await connection.acceptedMethods(user: configuration.user) else {
      return
    }
    throw refused(methods)
  }

  private mutating func tryKeys(_ connection: SSHConnection) async throws(SSHError) -> Bool {
    for file in configuration.certificateFiles {
      obstacles.append("CertificateFile \(file) is not supported yet")
    }
    let files = try await loadFiles()
    let agent = try await agentIdentities(files)
    for identity in agent {
      guard let client = agentClient else { break }
      let answer = try await connection.offer(
        publicKey: identity.blob, user: configuration.user
      ) { data in
        do throws(SSHError) {
          return .success(try await client.sign(data, with: identity.blob))
        } catch {
          return .failure(error)
        }
      }
      if answer == .accepted { return true }
      note(answer, "\(identity.comment) (agent)")
    }
    for file in files where !agent.contains(where: { $0.blob == file.key?.publicKey }) {
      guard let key = file.key else { continue }
      if let obstacle = key.obstacle {
        obstacles.append(obstacle)
        continue
      }
      let answer = try await connection.offer(
        privateKey: key.content, user: configuration.user)
      if answer == .accepted { return true }
      note(answer, file.path)
    }
    return false
  }

  private mutating func note(_ answer: SSHConnection.AuthenticationAnswer, _ key: String) {
    guard case .refused(let words) = answer else { return }
    tried.append("\(key): \(words)")
  }

  // MARK: Candidates

  private struct IdentityFile: Sendable {
    var path: String
    var key: PrivateKeyFile?
    /// From the private key file, or from the `.pub` file beside it.
    var publicKey: [UInt8]?
  }

  private func loadFiles() async throws(SSHError) -> [IdentityFile] {
    let (paths, host) = (configuration.identityFiles, host)
    let expired = SSHError(
      .authentication, .timedOut, host: host, "The key files could not be read")
    return try await onOwnThread(deadline: .seconds(5), expired: expired) {
      do throws(SSHError) {
        var files: [IdentityFile] = []
        for path in paths {
          let key = try PrivateKeyFile(path: path, host: host)
          var blob = key?.publicKey
          if blob == nil { blob = try PublicKeyFile.read(path + ".pub", host: host) }
          if key != nil || blob != nil {
            files.append(IdentityFile(path: path, key: key, publicKey: blob))
          }
        }
        return .success(files)
      } catch {
        return .failure(error)
      }
    }
  }

  private var agentClient: AgentClient? {
    configuration.identityAgent.map { AgentClient(path: $0, host: host) }
  }

  /// The agent's keys in the order in which they are to be offered.
  private mutating func agentIdentities(
    _ files: [IdentityFile]
  ) async throws(SSHError) -> [AgentClient.Identity] {
    guard let client = agentClient else { return [] }
    let all: [AgentClient.Identity]
    do throws(SSHError) {
      all = try await client.identities()
    } catch {
      if error.kind == .cancelled { throw error }
      // As with ssh, a missing agent is no reason not to try the files.
      obstacles.append(error.message)
      return []
    }
    let named = files.compactMap { file in all.first { $0.blob == file.publicKey } }
    let others =
      configuration.identitiesOnly ? [] : all.filter { identity in !named.contains(identity) }
    return (named + others).filter { identity in
      let type = HostKey(blob: identity.blob)?.type ?? "?"
      if Self.usableTypes.contains(type) { return true }
      obstacles.append("\(identity.comment) (agent): \(type) is not supported yet")
      return false
    }
  }

  // MARK: Refusal

  private func refused(_ methods: [String]) -> SSHError {
    let accepts = "it takes " + methods.joined(separator: ", ")
    var parts = ["The server let none of our keys in as \(configuration.user) (\(accepts))"]
    if tried.isEmpty { parts = ["There is no key to offer as \(configuration.user) (\(accepts))"] }
    parts += tried
    return SSHError(
      .authentication, .authenticationRefused, host: host, parts.joined(separator: "; "),
      advice: obstacles.isEmpty
        ? "See which key `ssh -v` uses for this host" : obstacles.joined(separator: ". "))
  }
}
