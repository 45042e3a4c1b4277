extension Authenticator {
  private var account: String { "\(user)@\(configuration.hostName)" }

  /// nil when the user gives no answer.
  private func ask(_ prompt: String, isVisible: Bool = false) async throws(SSHError) -> Secret? {
    guard let questions else { return nil }
    let question = SecretQuestion(host: host, prompt: prompt, isVisible: isVisible)
    // A server waits no longer than that either, and whoever has left would find a question that
    // leads nowhere.
    let answer = await withTaskGroup(of: Secret?.self) { group in
      group.addTask {
        guard var bytes = await questions.secret(question) else { return nil }
        return Secret(taking: &bytes)
      }
      group.addTask {
        // Cut short once there is an answer.
        try? await Task.sleep(for: KeyboardConversation.patience, clock: .continuous)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    if Task.isCancelled { throw .cancelled(host: host) }
    return answer
  }

  // MARK: Passphrases

  /// Asks for the passphrase of a key that the server would take, and offers the key.
  mutating func offerEncrypted(
    _ candidate: KeyCandidate, _ file: PrivateKeyFile, _ connection: SSHConnection
  ) async throws(SSHError) -> Outcome? {
    let answer = try await wouldTake(candidate, connection)
    guard answer == .welcome else { return note(answer, of: described(candidate)) }
    guard questions != nil else {
      record.obstacles.append(
        "\(file.path) is encrypted: load it into the agent with `ssh-add \(file.path)`")
      return nil
    }
    for number in 0..<configuration.authentication.passwordPrompts {
      let words = number == 0 ? "Enter passphrase" : "Wrong passphrase, try again"
      guard let passphrase = try await ask("\(words) for key '\(file.path)':"), !passphrase.isEmpty
      else {
        record.obstacles.append("no passphrase was given for \(file.path)")
        return nil
      }
      switch try await unlock(file, passphrase, candidate, connection) {
      case .over(let outcome): return outcome
      case .wrongPassphrase: continue
      }
    }
    record.obstacles.append(
      "the passphrase of \(file.path) was wrong "
        + "\(configuration.authentication.passwordPrompts) times")
    return nil
  }

  private enum Unlocking {
    case wrongPassphrase
    case over(Outcome?)
  }

  private mutating func unlock(
    _ file: PrivateKeyFile, _ passphrase: Secret, _ candidate: KeyCandidate,
    _ connection: SSHConnection
  ) async throws(SSHError) -> Unlocking {
    guard case .encryptedPEM = file.form else {
      let answer = try await connection.offer(
        privateKey: file.content, certificate: candidate.certificate?.line, passphrase: passphrase,
        user: user)
      // The header was readable and the cipher is one that libssh2 can do.
      if case .refused(nil, _, _) = answer { return .wrongPassphrase }
      return .over(note(answer, of: described(candidate)))
    }
    let read = try await IdentityFile.read(host: host) {
      () throws(SSHError) -> Result<SigningKey, SigningKey.Failure> in
      Result { () throws(SigningKey.Failure) in
        try SigningKey(pem: file.content, passphrase: passphrase)
      }
    }
    switch read {
    case .success(let key): return .over(try await offerSigned(candidate, key, connection))
    case .failure(.wrongPassphrase): return .wrongPassphrase
    case .failure(.unknownCipher):
      record.obstacles.append(
        "\(file.path) is encrypted in a way that OpenSSL cannot undo: "
          + "load it into the agent with `ssh-add \(file.path)`")
    case .failure(.unusable):
      record.obstacles.append("\(file.path) holds no key that SSH can use")
    }
    return .over(nil)
  }

  // MARK: Passwords

  mutating func tryPasswords(_ connection: SSHConnection) async throws(SSHError) -> Outcome {
    for number in 0..<configuration.authentication.passwordPrompts where isAccepted(.password) {
      let words = number == 0 ? "" : "Permission denied, please try again. "
      guard let password = try await ask("\(words)\(account)'s password:") else {
        throw .noAnswer(host: host)
      }
      let answer = try await connection.offer(password: password, user: user)
      if let outcome = note(answer, of: "a password") { return outcome }
      if case .refused(nil, _, _) = answer {
        // RFC 4252 §8, SSH_MSG_USERAUTH_PASSWD_CHANGEREQ is the usual reason.
        record.obstacles.append("Log in with `ssh` once, where a password can be changed")
        return .exhausted
      }
    }
    return .exhausted
  }

  mutating func tryKeyboardInteractive(
    _ connection: SSHConnection
  ) async throws(SSHError) -> Outcome {
    let prompts = configuration.authentication.passwordPrompts
    for _ in 0..<prompts where isAccepted(.keyboardInteractive) {
      let (answer, wasAsked) = try await connection.keyboardInteractive(user: user) {
        [self] round in
        // A wait that was cancelled is known to the connection.
        do throws(SSHError) { return try await answers(to: round) } catch { return nil }
      }
      if let outcome = note(answer, of: "an answer to its question") { return outcome }
      // A server that asks nothing says no to the method itself.
      if !wasAsked { break }
    }
    return .exhausted
  }

  private func answers(to round: KeyboardRound) async throws(SSHError) -> [Secret]? {
    var answers: [Secret] = []
    for (index, prompt) in round.prompts.enumerated() {
      // RFC 4256 §3.3: the name and the instruction are to be shown before the prompts.
      let heading = index == 0 ? [round.name, round.instruction] : []
      let words = ["(\(account))"] + heading.filter { !$0.isEmpty } + [prompt.text]
      // The space behind a prompt is for whoever shows it.
      let text = String(words.joined(separator: " ").reversed().drop { $0 == " " }.reversed())
      guard let answer = try await ask(text, isVisible: prompt.isVisible) else { return nil }
      answers.append(answer)
    }
    return answers
  }
}
