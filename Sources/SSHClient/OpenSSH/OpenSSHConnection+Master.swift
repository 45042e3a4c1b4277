#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension OpenSSHConnection {
  /// For one step on the way to a connection; longer where the user is being asked.
  private static let patience = Duration.seconds(30)
  private static let patienceWithUser = Duration.seconds(600)

  /// Starts the master and waits until it takes commands.
  func start() async throws(SSHError) {
    do throws(SystemError) {
      try folder.makeFile(MasterArguments.environmentFile, arguments.environment)
      if arguments.mayAsk { questions = try QuestionPipes(folder) }
      master = try SSHChild(
        arguments.master(folder), session: true,
        variables: QuestionPipes.variables(asking: arguments.mayAsk ? folder : nil))
    } catch {
      throw SSHError(
        .configuration, .badConfiguration, host: host, "Cannot start ssh: \(error.words)")
    }
    serve()
    while !isReady {
      let stage = log.stage
      let patience = arguments.mayAsk ? Self.patienceWithUser : Self.patience
      try await perform(
        deadline: .now + patience,
        expired: { self.log.timedOut(host: self.host, after: patience) }
      ) {
        // It binds the socket under another name and links it once it listens.
        if access(self.folder.socket, F_OK) == 0 { self.isReady = true }
        return self.isReady || self.log.stage != stage ? .success(()) : nil
      }
      tell(log.stage)
    }
    options.onPhase(.authenticated)
  }

  private func tell(_ stage: MasterLog.Stage) {
    switch stage {
    case .configuring, .established: break
    case .connecting: options.onPhase(.connecting)
    case .banner, .exchangingKeys: options.onPhase(.exchangingKeys)
    case .checkingHostKey: options.onPhase(.checkingHostKey)
    case .authenticating: options.onPhase(.authenticating)
    }
  }

  /// Takes in what the master says, and notices its end.
  func serveMaster() {
    guard let master else { return }
    let hasEnded = master.hasEnded
    readLog()
    if let question = questions?.next() { ask(question) }
    if hasEnded { fail(log.failure(host: host)) }
  }

  /// Bounded, since a ProxyCommand may write there for ever.
  func readLog() {
    for _ in 0..<16 {
      guard let master, case .done(let bytes) = master.read(.errors) else { return }
      log.consume(bytes)
    }
  }

  private func ask(_ question: QuestionPipes.Question) {
    guard let asked = options.questions else { return }
    if question.kind == "none" { return options.onNotice("\(host): \(question.prompt)") }
    // Whoever asked before waits no longer.
    asking?.cancel()
    asking = Task {
      var answer: [UInt8]?
      if let hostKey = HostKeyQuestion(
        prompt: question.prompt, host: host, shownAs: arguments.shownName)
      {
        answer = Array((await asked.confirmHostKey(hostKey) ? "yes" : "no").utf8)
      } else {
        answer = await asked.secret(
          SecretQuestion(
            host: host, prompt: String(question.prompt.trimmingSuffix { $0 == " " }),
            isVisible: question.kind == "confirm"))
      }
      if !Task.isCancelled { questions?.answer(answer) }
      answer?.wipe()
    }
  }
}

extension HostKeyQuestion {
  /// ssh's own words: `The authenticity of host 'name (address)' can't be established.`,
  /// `ED25519 key fingerprint is SHA256:….` and, at the end, `(yes/no/…)?`.
  ///
  /// - Parameter shownAs: what ssh calls the host; under another name it asks about a hop.
  init?(prompt: String, host: String, shownAs own: String) {
    let mark = " key fingerprint is "
    var host = host
    if let start = prompt.firstRange(of: "authenticity of host '") {
      let name = prompt[start.upperBound...].prefix { $0 != " " && $0 != "'" }
      if name.lowercased() != own { host = "\(name), on the way to \(host)," }
    }
    for line in prompt.split(separator: "\n") {
      guard let range = line.firstRange(of: mark),
        let type = line[..<range.lowerBound].split(separator: " ").last
      else { continue }
      let fingerprint = line[range.upperBound...].trimmingSuffix { $0 == "." || $0 == " " }
      self.init(
        host: host, keyType: String(type), fingerprint: String(fingerprint), otherKnownTypes: [])
      return
    }
    return nil
  }
}

extension StringProtocol where SubSequence == Substring {
  fileprivate func trimmingSuffix(_ isDropped: (Character) -> Bool) -> Substring {
    var rest = self[...]
    while let last = rest.last, isDropped(last) { rest.removeLast() }
    return rest
  }
}
