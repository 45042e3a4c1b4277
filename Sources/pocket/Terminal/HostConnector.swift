import SSHClient

/// The way to a host over ssh, with the user at hand for a question.
enum HostConnector {
  @Sendable static func make(
    host: String, settings: Settings, console: Console
  ) throws(SSHError) -> any Connector {
    var options = ConnectionOptions(
      engine: settings.transport, configurationFile: settings.sshConfig)
    options.onNotice = { notice in
      Task {
        do {
          try await console.say(notice)
        } catch {
          // stderr is gone; the next thing that must be said there finds it out.
        }
      }
    }
    let environment = Environment.ofThisProcess()
    if let source = AnswerSource(environment, hasTerminal: TerminalLine.isPossible) {
      options.questions = Questions(
        confirmHostKey: { await confirm($0, source, console) },
        secret: { await answer($0, source, console) })
    }
    return try SSHConnector(host: host, options: options)
  }

  /// Shows an unknown host key's fingerprint and asks about it. Only a whole `yes` will do.
  private static func confirm(
    _ question: HostKeyQuestion, _ source: AnswerSource, _ console: Console
  ) async -> Bool {
    await withoutStatus(console) { () async throws(OutputError) -> Bool in
      try await console.say(
        "\(question.host) is new here. Its \(question.keyType) key is \(question.fingerprint)")
      if !question.otherKnownTypes.isEmpty {
        let types = question.otherKnownTypes.joined(separator: ", ")
        try await console.say("careful: other keys of this host are known (\(types)), not this one")
      }
      // A window shows nothing of what was said here.
      let fingerprint = source == .terminal ? "" : "\(question.host): \(question.fingerprint). "
      let words = "compare it with the host's own, then type yes to go on, or no:"
      return await source.ask(fingerprint + words, isVisible: true) == Array("yes".utf8)
    } ?? false
  }

  private static func answer(
    _ question: SecretQuestion, _ source: AnswerSource, _ console: Console
  ) async -> [UInt8]? {
    await withoutStatus(console) {
      await source.ask(question.prompt, isVisible: question.isVisible)
    } ?? nil
  }

  /// Asks while no live line is in the way, and shows it again: a server may take its time over an
  /// answer, too. nil when nothing can be shown any more.
  private static func withoutStatus<Answer: Sendable>(
    _ console: Console, _ ask: () async throws(OutputError) -> Answer
  ) async -> Answer? {
    do throws(OutputError) {
      let status = try await console.takeStatus()
      let answer = try await ask()
      if !Task.isCancelled { try await console.show(status: status) }
      return answer
    } catch {
      return nil
    }
  }
}
