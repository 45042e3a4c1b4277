import JobStore
import PocketKit
import SSHClient

extension Command {
  static let doctor = Command(
    "doctor", summary: "Look for what may go wrong, here and on a host.",
    examples: [
      Example("pocket doctor dev1", "connect, ask, and say what to do about it"),
      Example("pocket doctor", "this machine only"),
      Example("pocket doctor dev1 --json", "for scripts"),
    ],
    positionals: [Positional("host", .optional, .host)],
    options: [Keys.sshConfig.spec, Keys.transport.spec, Keys.json.spec],
    notes: [
      """
      Nothing is changed, and no job is started; a cancel that waits for the host is carried out. \
      Each line is ok, a warning or a failure, with what to do; what could not be asked is unknown.
      """,
      "Exit: 0 no failure, 1 a failure, 255 the host is not reached, 77 its key changed.",
    ]
  ) { invocation, context in
    var host: String?
    if let word = invocation.positionals.first { host = try context.text(word) }
    let settings = try context.settings(
      Settings.Flags(
        sshConfig: try context.text(invocation[Keys.sshConfig]),
        transport: try context.text(invocation[Keys.transport])))
    if let host { try context.checkHostName(host, settings) }
    let (steps, continuation) = AsyncStream.makeStream(of: String.self)
    let showing = Task {
      for await step in steps { try await context.console.show(status: "\(step)…") }
    }
    var examination = Examination(
      doctor: Doctor { continuation.yield($0) }, context: context, asJSON: invocation[Keys.json])
    let code: Result<ExitCode, any Error>
    do {
      code = .success(try await examination.run(host, settings))
    } catch {
      code = .failure(error)
    }
    continuation.finish()
    _ = await showing.result
    try await context.console.show(status: nil)
    return try code.get()
  }
}

/// One call of `doctor`: what is found is shown at once.
private struct Examination {
  let doctor: Doctor
  let context: CommandContext
  let asJSON: Bool
  private var counts: [Finding.Verdict: Int] = [:]
  private var lastHost: String??

  init(doctor: Doctor, context: CommandContext, asJSON: Bool) {
    (self.doctor, self.context, self.asJSON) = (doctor, context, asJSON)
  }

  /// Examines this machine, and then the host if one is named.
  mutating func run(_ host: String?, _ settings: Settings) async throws -> ExitCode {
    try await show(await doctor.librariesHere(), of: nil)
    try await show(await store(), of: nil)
    var code: ExitCode?
    if let host { code = try await examine(host, settings) }
    if !asJSON { try await context.console.say(summary) }
    return code ?? (counts[.failure] == nil ? .success : .failure)
  }

  private func store() async -> [Finding] {
    do throws(StoreError) {
      let location = try context.storeLocation()
      return await doctor.store(at: location.path) { () async throws(StoreError) in
        try await context.openStoreIfPresent()
      }
    } catch {
      return [Finding("store", .failure, "\(error)")]
    }
  }

  /// - Returns: the exit code of a host that is not reached, as other commands have it.
  private mutating func examine(_ host: String, _ settings: Settings) async throws -> ExitCode? {
    let connector = try context.connector(host, settings, context.console)
    let transport: any Transport
    let found: [Finding]
    do throws(SSHError) {
      (transport, found) = try await doctor.connect(by: connector)
    } catch {
      guard error.kind != .cancelled else { throw error }
      try await show(
        [Finding("connection", .failure, error.message, remedy: error.advice)], of: host)
      return CommandError(error).exit
    }
    do {
      try await show(found, of: host)
      try await show(try await doctor.examine(transport, host: host), of: host)
      try await show(await doctor.measureChannels(transport, host: host), of: host)
    } catch {
      await transport.close()
      throw error
    }
    await transport.close()
    try await carryOutIntents(on: host, settings)
    return nil
  }

  /// This is a contact with the host as any other: a cancel that waits for it waits no longer.
  private func carryOutIntents(on host: String, _ settings: Settings) async throws {
    let waiting: JobStore?
    do throws(StoreError) {
      let store = try await context.openStoreIfPresent()
      waiting = try await store?.intents(for: host).isEmpty == false ? store : nil
    } catch {
      // It is among what was found.
      return
    }
    guard let waiting else { return }
    try await context.client(of: waiting, settings).carryOutIntents(on: host)
  }

  private mutating func show(_ findings: [Finding], of host: String?) async throws {
    let console = context.console
    if !asJSON, lastHost != .some(host) {
      if lastHost != nil { try await console.print() }
      try await console.print(console.style.bold(host.map(printable) ?? "This machine"))
    }
    lastHost = .some(host)
    for finding in findings {
      counts[finding.verdict, default: 0] += 1
      if asJSON {
        try await console.write(JSONLine.bytes(of: FindingLine(host: host, finding)))
      } else {
        for line in lines(for: finding) { try await console.print(line) }
      }
    }
  }

  private func lines(for finding: Finding) -> [String] {
    let style = context.console.style
    let verdict = padded(finding.verdict.rawValue, to: 7)
    let coloured =
      switch finding.verdict {
      case .ok: style.green(verdict)
      case .warning: style.yellow(verdict)
      case .failure: style.red(verdict)
      }
    let subject = padded(finding.subject, to: Self.subjectWidth)
    let indent = String(repeating: " ", count: Self.textColumn)
    var lines = text(finding.what)
    lines[0] = "\(coloured)  \(subject)  \(lines[0])"
    for index in lines.indices.dropFirst() { lines[index] = indent + lines[index] }
    if let remedy = finding.remedy {
      lines += text("→ " + remedy).map { indent + $0 }
    }
    return lines
  }

  private static let subjectWidth = 13
  private static let textColumn = 7 + 2 + subjectWidth + 2

  private func text(_ words: String) -> [String] {
    let words = printable(words)
    guard let width = context.console.facts.tableWidth else { return [words] }
    return HelpPage.lines(of: words, width: max(30, width - Self.textColumn))
  }

  private var summary: String {
    func count(_ verdict: Finding.Verdict, _ noun: String) -> String {
      let number = counts[verdict] ?? 0
      return number == 0 ? "no \(noun)s" : number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }
    return "\(count(.failure, "failure")), \(count(.warning, "warning"))"
  }
}

/// A finding as `--json` shows it. Keys are only ever added.
private struct FindingLine: Encodable {
  /// null: this machine.
  let host: String?
  let finding: Finding

  init(host: String?, _ finding: Finding) { (self.host, self.finding) = (host, finding) }

  private enum Key: String, CodingKey { case host, subject, verdict, what, remedy }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(host, forKey: .host)
    try object.encode(finding.subject, forKey: .subject)
    try object.encode(finding.verdict.rawValue, forKey: .verdict)
    try object.encode(finding.what, forKey: .what)
    try object.encode(finding.remedy, forKey: .remedy)
  }
}
