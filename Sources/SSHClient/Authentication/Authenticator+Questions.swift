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
    if stepsAside, record.isBetterServedByOpenSSH { return nil }
    guard questions != nil else {
      record.obstacles.append(
        "\(file.path) is encrypted: load it into the agent with `ssh-add \(file.path)`")
      return nil
    }
    for number in 0..<configuration.authentication.passwordPrompts {
      let words = number == 0 ? "Enter passphrase" : "Wrong passphrase, try again"
      guard let passphrase = try await ask("\(words) for key '\(file.path)':"), !passphrase.isEmpty
      else {
        record.obstacles.append("No passphrase was given for \(file.path)")
        return nil
      }
      switch try await unlock(file, passphrase) {
      case .success(let key):
        // Only now may it be known what kind of key it is, and so whether it may be offered at all.
        var known = candidate
        known.blob = candidate.blob ?? key.publicKey
        return try await offer(known, unlocked: key, connection)
      case .failure(.wrongPassphrase): continue
      case .failure(.unknownCipher):
        record.obstacles.append(
          "\(file.path) is encrypted in a way that is not known here: "
            + "load it into the agent with `ssh-add \(file.path)`")
      case .failure(.unusable):
        record.obstacles.append("\(file.path) holds no key that SSH can use")
      }
      return nil
    }
    record.obstacles.append(
      "The passphrase of \(file.path) was wrong "
        + "\(configuration.authentication.passwordPrompts) times")
    return nil
  }

  /// A file may ask for any number of rounds of its KDF; a connection waits no longer than its
  /// server does.
  private func unlock(
    _ file: PrivateKeyFile, _ passphrase: Secret
  ) async throws(SSHError) -> Result<SigningKey, SigningKey.Failure> {
    let expired = SSHError(
      .authentication, .timedOut, host: host, "\(file.path) could not be decrypted in time")
    return try await onOwnThread(deadline: KeyboardConversation.patience, expired: expired) {
      .success(
        Result { () throws(SigningKey.Failure) in try file.unlock(passphrase) })
    }
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
