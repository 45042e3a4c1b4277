import JobModel
import JobStore
import PocketKit

extension Command {
  static let resume = Command(
    "resume", summary: "Follow a job again, from where you were to its end.",
    examples: [
      Example("pocket resume @", "the newest job"),
      Example("pocket resume nightly > log", "all output from the first byte on, then live"),
      Example("pocket resume k3f --from now", "only what comes"),
      Example("pocket resume --late k3f", "also what was written after its end"),
    ],
    positionals: [Positional("job", .one, .job)],
    options: [
      from.spec, late.spec, Keys.rawJSON.spec, Keys.sshConfig.spec, Keys.transport.spec,
      Keys.env.spec,
      Keys.envFile.spec,
    ],
    notes: [
      """
      On a terminal it goes on after what was last shown on one; elsewhere it begins at the start. \
      Ctrl-C lets go, and the job lives on. --env is needed again only when the job turns out not to \
      have been started.
      """,
      "Exit: the job's own code; others: pocket\u{A0}help\u{A0}exit-codes. To name a job: pocket\u{A0}help\u{A0}jobs",
    ]
  ) { invocation, context in
    let secrets = try context.secrets(invocation)
    let client = try await context.client(invocation)
    let job = try await client.store.resolve(invocation.positionals[0].shown)
    let start = invocation[from] ?? (context.console.facts.outputIsTerminal ? .shown : .start)
    let asJSON = invocation[Keys.rawJSON]
    let printer = try await OutputPrinter(
      job, in: client.store, to: context.console, from: start, isRaw: asJSON, movesMarks: true)
    var following = Following(job, with: client, in: context, printer: printer)
    let end = try await following.run(client.follow(job.id, secrets: secrets))
    if invocation[late], case .over = end {
      try await takeInLate(job.id, with: client, in: context, asJSON: asJSON)
    }
    return try await context.conclude(end, job, with: client, asJSON: asJSON)
  }

  /// What was taken in before is printed even when the host has nothing to say any more.
  private static func takeInLate(
    _ id: JobID, with client: JobClient, in context: CommandContext, asJSON: Bool
  ) async throws {
    guard let job = try await client.store.job(id), job.proved, job.exit != nil else { return }
    try await context.console.show(status: "asking \(job.host) for what came later…")
    let result: Result<[JobStream: Int], JobError>
    do throws(JobError) {
      result = .success(try await client.takeInLate(id))
    } catch {
      result = .failure(error)
    }
    try await context.console.show(status: nil)
    try await context.printLate(of: job, in: client.store, asJSON: asJSON)
    _ = try result.get()
  }

  private static let late = OptionKey<Bool>.flag(
    "late", nil, "also take in what was written after the end")
  private static let from = OptionKey<PrintingStart?>.choice(
    "from", "default: shown on a terminal, else start")
}
