import Agents
import JobModel
import JobStore
import PocketKit

extension Command {
  static let run = Command(
    "run", summary: "Start a job on a host, and follow it.",
    examples: [
      Example("pocket run -H dev1 -- make test", "any command"),
      Example("pocket run -H dev1 -C src/app -d -- ./soak.sh", "in a directory; do not wait"),
      Example(#"pocket run -a claude "Fix the login test""#, "an agent, with a prompt"),
      Example("pocket run -a codex - < task.md", "the prompt from a file"),
      Example("pocket run --timeout 2h -- make soak", "ended by its host after 2 h"),
    ],
    usage: [
      "pocket run [<option>…] <prompt> | -",
      "pocket run [<option>…] -- <command>…",
    ],
    positionals: [Positional("prompt", .optional)],
    options: [
      Keys.host.spec, agent.spec, directory.spec, name.spec, detach.spec, Keys.env.spec,
      Keys.envFile.spec, agentArgument.spec, lineBuffered.spec, timeout.spec, maxOutput.spec,
      onMaxOutput.spec, Keys.sshConfig.spec,
      Keys.transport.spec,
      Keys.rawJSON.spec,
    ],
    takesCommand: true,
    tooManyHint: "quote a prompt as one word, and put -- before a command",
    notes: [
      """
      Without a prompt, $VISUAL or $EDITOR opens. Ctrl-C lets go and the job lives on; `pocket \
      resume` follows it again. Where host and agent are set: pocket\u{A0}help\u{A0}settings
      """,
      "Exit: the job's own code; others: pocket\u{A0}help\u{A0}exit-codes.",
    ]
  ) { invocation, context in
    let settings = try context.settings(
      Settings.Flags(
        host: try context.text(invocation[Keys.host]), agent: try context.text(invocation[agent]),
        sshConfig: try context.text(invocation[Keys.sshConfig]),
        transport: try context.text(invocation[Keys.transport])))
    let host = try settings.requireHost()
    try context.checkHostName(host, settings)
    let secrets = try context.secrets(invocation)
    let (request, session) = try await request(
      invocation, settings, secretNames: secrets.map(\.name), in: context)
    let client = await context.client(of: try await context.openStore(), settings)
    let job = try await client.create(request, on: host, session: session)
    return try await start(job, secrets, invocation, with: client, in: context)
  }

  private static let agent = OptionKey<Word?>.value(
    "agent", "a", "NAME", completion: .choiceOfAgents, "the agent that gets the prompt")
  private static let directory = OptionKey<Word?>.value(
    "cd", "C", "DIR", "run it there; relative to your home on the host")
  private static let name = OptionKey<Word?>.value(
    "name", "n", "NAME", "a name for the job: A-Z a-z 0-9 . _ -")
  private static let detach = OptionKey<Bool>.flag(
    "detach", "d", "do not follow: print the job's id and leave")
  private static let agentArgument = OptionKey<[Word]>.list(
    "agent-arg", nil, "ARG", "one more argument for the agent itself")
  private static let lineBuffered = OptionKey<Bool>.flag(
    "line-buffered", nil, "let the command write line by line (stdbuf -oL)")

  private static let timeout = OptionKey<Word?>.value(
    "timeout", nil, "TIME", "end it after 45s, 90m, 2h or 3d, connected or not")
  private static let maxOutput = OptionKey<Word?>.value(
    "max-output", nil, "SIZE", "end a stream at 64k, 500M or 2G, with a marker line")
  private static let onMaxOutput = OptionKey<Word?>.value(
    "on-max-output", nil, "HOW",
    completion: .choice(JobLimits.OutputAction.allCases.map(\.rawValue)),
    "stop (default): end the job; discard: let it go on")

  private static func limits(_ invocation: Invocation) throws(UsageError) -> JobLimits {
    let limits = JobLimits(
      timeout: try invocation.seconds(timeout), maxOutput: try invocation.bytes(maxOutput),
      onMaxOutput: invocation[onMaxOutput].flatMap { JobLimits.OutputAction(rawValue: $0.shown) }
        ?? .stop)
    if invocation[onMaxOutput] != nil, limits.maxOutput == nil {
      throw UsageError(
        "--on-max-output says what happens at a limit, and there is none",
        hint: "give --max-output too", command: "run")
    }
    return limits
  }

  private static func request(
    _ invocation: Invocation, _ settings: Settings, secretNames: [String],
    in context: CommandContext
  ) async throws -> (JobRequest, session: String?) {
    var request = JobRequest(
      name: try context.text(invocation[name]),
      workingDirectory: invocation[directory]?.bytes, arguments: [],
      environmentNames: secretNames, lineBuffered: invocation[lineBuffered],
      limits: try limits(invocation))
    if let command = invocation.command {
      for (isGiven, option) in [
        (invocation[agent] != nil, "--agent"),
        (!invocation[agentArgument].isEmpty, "--agent-arg"),
      ] where isGiven {
        throw UsageError("\(option) is for a prompt, and this is a command", command: "run")
      }
      request.arguments = command.map(\.bytes)
      return (request, nil)
    }
    // Before the prompt: who has written one in an editor must not lose it for want of an agent.
    let agentName = try settings.requireAgent(known: AgentCatalog.all.map(\.name))
    guard let known = AgentCatalog.agent(named: agentName) else {
      throw CommandError("unknown-agent", "there is no agent '\(agentName)'", exit: .usage)
    }
    let command = known.command(arguments: invocation[agentArgument].map(\.bytes))
    request.agent = known.name
    request.arguments = command.arguments
    request.readsPrompt = true
    request.prompt = try await prompt(invocation, in: context)
    return (request, command.session)
  }

  private static func prompt(
    _ invocation: Invocation, in context: CommandContext
  ) async throws -> [UInt8] {
    let facts = context.console.facts
    let bytes: [UInt8]
    if let word = invocation.positionals.first {
      bytes = word == "-" ? try await context.readInput() : word.bytes
    } else if facts.inputIsTerminal, facts.errorsIsTerminal {
      bytes = try await context.edit(context.environment)
    } else {
      throw UsageError(
        "there is no prompt", hint: "give one, or - to read it from standard input", command: "run")
    }
    guard bytes.contains(where: { $0 > 0x20 }) else {
      throw UsageError("the prompt is empty, so nothing was started", command: "run")
    }
    return bytes
  }

  private static func start(
    _ job: Job, _ secrets: Secrets, _ invocation: Invocation, with client: JobClient,
    in context: CommandContext
  ) async throws -> ExitCode {
    let asJSON = invocation[Keys.rawJSON]
    let gate = LaunchGate()
    func conclude(_ end: Following.End) async throws -> ExitCode {
      guard case .detached = end, await gate.close() else {
        return try await context.conclude(end, job, with: client, asJSON: asJSON)
      }
      try await client.noteGivenUp(job.id)
      throw CommandError(
        "interrupted", "let go before \(job.host) was reached; \(job.label) was not started",
        exit: .detached)
    }
    guard invocation[detach] else {
      let printer = try await OutputPrinter(
        job, in: client.store, to: context.console, from: .start, isRaw: asJSON, movesMarks: true)
      var following = Following(job, with: client, in: context, printer: printer)
      let end = try await following.run(client.launchAndFollow(job.id, secrets, gate))
      return try await conclude(end)
    }
    var following = Following(job, with: client, in: context, printer: nil)
    let end = try await following.run(client.launchOnly(job.id, secrets, gate))
    guard case .over(.running) = end else {
      return try await conclude(end)
    }
    if asJSON {
      let newest = try await client.store.job(job.id) ?? job
      let record = try await JobRecord(newest, in: client.store)
      try await context.console.write(JSONLine.bytes(of: record))
    } else {
      try await context.console.print(job.id.description)
    }
    return .success
  }
}

extension Completion {
  fileprivate static let choiceOfAgents = Completion.suggestion(AgentCatalog.all.map(\.name))
}

extension JobClient {
  /// Starts a new job; the last event says what became of that.
  fileprivate func launchOnly(_ id: JobID, _ secrets: Secrets, _ gate: LaunchGate) -> JobEvents {
    launching(id, secrets, gate) { state, events in events.yield(.ended(state)) }
  }

  /// Starts a new job and follows it to its end.
  fileprivate func launchAndFollow(
    _ id: JobID, _ secrets: Secrets, _ gate: LaunchGate
  ) -> JobEvents {
    launching(id, secrets, gate) { _, events in
      for try await event in follow(id, secrets: secrets) { events.yield(event) }
    }
  }

  private func launching(
    _ id: JobID, _ secrets: Secrets, _ gate: LaunchGate,
    _ next: @escaping @Sendable (JobState, JobEvents.Continuation) async throws -> Void
  ) -> JobEvents {
    let (events, continuation) = JobEvents.makeStream()
    let task = Task {
      do {
        let state = try await launch(
          id, secrets: secrets, isNew: true, gate: gate, progress: { continuation.yield($0) })
        try await next(state, continuation)
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return events
  }
}
