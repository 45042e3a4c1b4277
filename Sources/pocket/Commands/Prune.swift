import JobModel
import JobStore
import PocketKit

extension Command {
  static let prune = Command(
    "prune", summary: "Remove jobs that ended long ago, on their hosts and here.",
    examples: [
      Example("pocket prune --older 30d --dry-run", "what would go"),
      Example("pocket prune --older 30d", "let it go"),
      Example("pocket prune --older 2w -H dev1", "only the jobs on dev1"),
    ],
    options: [
      older.spec, host.spec, dryRun.spec, Keys.json.spec, Keys.sshConfig.spec, Keys.transport.spec,
    ],
    notes: [
      """
      Only jobs whose end is proved go: all their output was stored here. What runs, is lost or is \
      not all here stays, whatever its age. Another device that has not read a job to its end loses \
      the rest of it.
      """,
      """
      Exit: 0 all of them are gone; 255 a host was away, and its jobs are left as they are; 1 \
      something else was in the way. To run it again is no error.
      """,
    ]
  ) { invocation, context in
    guard let seconds = try invocation.seconds(older) else {
      throw UsageError(
        "no age is given", hint: "say how old: pocket prune --older 30d", command: "prune")
    }
    let client = try await context.client(invocation)
    let onlyHost = try context.text(invocation[host])
    let limit = context.now() - seconds
    let old = try await client.store.jobs(host: onlyHost)
      .filter { $0.proved && $0.overSince < limit }
      .sorted { ($0.host, $0.overSince) < ($1.host, $1.overSince) }
    let asJSON = invocation[Keys.json]
    if old.isEmpty, !asJSON {
      try await context.console.say("no job that is all here ended so long ago")
    }
    if invocation[dryRun] {
      try await context.show(old, in: client.store, asJSON: asJSON)
      return .success
    }
    var pruning = Pruning(client: client, context: context, asJSON: asJSON)
    for job in old { try await pruning.remove(job) }
    return try await pruning.conclude()
  }

  private static let older = OptionKey<Word?>.value(
    "older", nil, "AGE", "ended longer ago than this: 45s, 90m, 12h, 30d, 2w")
  private static let host = OptionKey<Word?>.value(
    "host", "H", "HOST", completion: .host, "only the jobs on this host")
  private static let dryRun = OptionKey<Bool>.flag(
    "dry-run", nil, "list them, and remove nothing")
}

extension Job {
  /// When it ended, in seconds since 1970: by its host's clock, or, of a job that never ran, when this
  /// client learned of that.
  fileprivate var overSince: Int64 { exit?.endedAt ?? stateAt }
}

extension CommandContext {
  fileprivate func show(_ jobs: [Job], in store: JobStore, asJSON: Bool) async throws {
    var table = JobTable(style: console.style, width: console.facts.tableWidth)
    for job in jobs {
      let record = try await JobRecord(job, in: store)
      if asJSON {
        try await console.write(JSONLine.bytes(of: record))
      } else {
        table.add(record, now: now())
      }
    }
    guard !asJSON, !jobs.isEmpty else { return }
    for line in table.lines(withHeader: true) { try await console.print(line) }
    try await console.say("nothing was removed; without --dry-run these would be")
  }
}

/// The removals of one prune. A host that is away is asked once.
private struct Pruning {
  let client: JobClient
  let context: CommandContext
  let asJSON: Bool
  private var removed = 0
  private var left: [String: Int] = [:]
  private var failed = 0

  init(client: JobClient, context: CommandContext, asJSON: Bool) {
    (self.client, self.context, self.asJSON) = (client, context, asJSON)
  }

  mutating func remove(_ job: Job) async throws {
    if let count = left[job.host] {
      left[job.host] = count + 1
      return
    }
    try await context.console.show(status: "removing \(job.label) on \(job.host)…")
    do throws(JobError) {
      try await client.remove(job.id)
    } catch {
      try await context.console.show(status: nil)
      if case .host = error { left[job.host] = 1 } else { failed += 1 }
      let error = CommandError(error)
      if asJSON {
        try await context.console.writeErrors(error.jsonLine)
      } else {
        try await context.console.say("\(job.label): \(error.message)")
      }
      return
    }
    try await context.console.show(status: nil)
    removed += 1
    if asJSON {
      try await context.console.write(JSONLine.bytes(of: ["removed": job.id.description]))
    } else {
      try await context.console.say("\(job.label) is removed, here and on \(job.host)")
    }
  }

  func conclude() async throws -> ExitCode {
    if !asJSON {
      for (host, count) in left.sorted(by: { $0.key < $1.key }) {
        try await context.console.say(
          "\(host) is away: \(count) \(count == 1 ? "job there is" : "jobs there are") left as before"
        )
      }
    }
    if failed > 0 { return .failure }
    return left.isEmpty ? .success : .unreachable
  }
}
