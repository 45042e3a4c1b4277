import JobModel
import JobStore
import PocketKit

extension Command {
  static let adopt = Command(
    "adopt", summary: "Take over jobs that another device started on a host.",
    examples: [
      Example("pocket adopt -H dev1", "list those that are not known here; take none"),
      Example("pocket adopt -H dev1 nightly k3f", "these two, by name or id"),
      Example("pocket adopt -H dev1 --all", "all of them"),
    ],
    positionals: [Positional("job", .any)],
    options: [
      Keys.host.spec, all.spec, Keys.json.spec, Keys.sshConfig.spec, Keys.transport.spec,
    ],
    notes: [
      """
      A job that was taken over is one like any other: resume, cancel, verify and rm work. Its output \
      is read from its first byte. Nothing changes on the host, and several devices may follow one \
      job. To take one over twice is no error.
      """,
      """
      What is no whole job there is named and passed over. A name that another job has here is left \
      out. Exit 1 when a job that was asked for could not be taken over.
      """,
    ]
  ) { invocation, context in
    let settings = try context.settings(
      Settings.Flags(
        host: try context.text(invocation[Keys.host]),
        sshConfig: try context.text(invocation[Keys.sshConfig]),
        transport: try context.text(invocation[Keys.transport])))
    let host = try settings.requireHost()
    try context.checkHostName(host, settings)
    let wanted = invocation.positionals
    if invocation[all], let word = wanted.first {
      throw UsageError(
        "'\(printable(word.shown))' and --all together: name jobs, or take all", command: "adopt")
    }
    let client = await context.client(of: try await context.openStore(), settings)
    let asJSON = invocation[Keys.json]
    try await context.console.show(status: "asking \(host)…")
    let listing = try await client.list(on: host)
    try await context.console.show(status: nil)
    if wanted.isEmpty && !invocation[all] {
      return try await context.show(listing, on: host, in: client.store, asJSON: asJSON)
    }
    var code = ExitCode.success
    let chosen: [JobID]
    if invocation[all] {
      chosen = listing.jobs.map(\.id)
      if !asJSON { try await context.say(listing.passedOver, on: host) }
    } else {
      chosen = try wanted.map { try listing.job($0.shown, on: host) }
    }
    for id in chosen {
      try await context.console.show(status: "taking over \(id)…")
      let result: Result<Adoption, JobError>
      do throws(JobError) {
        result = .success(try await client.adopt(id, from: host))
      } catch {
        result = .failure(error)
      }
      try await context.console.show(status: nil)
      // A known one is nothing new to who wants them all.
      if invocation[all], case .success(.known) = result { continue }
      let next = try await context.tell(result, on: host, in: client.store, asJSON: asJSON)
      if code == .success { code = next }
    }
    return code
  }

  private static let all = OptionKey<Bool>.flag("all", nil, "take over all that can be")
}

extension HostListing {
  /// The job that a word means: an id, a name, or the beginning of an id. A directory that was passed
  /// over counts too, so that its adoption says why.
  fileprivate func job(_ reference: String, on host: String) throws(CommandError) -> JobID {
    if let id = JobID(reference) { return id }
    let named = jobs.filter { $0.request.name == reference }
    let found = named.isEmpty ? jobs.filter { $0.id.description.hasPrefix(reference) } : named
    guard let job = found.first else {
      throw CommandError(
        "no-such-job",
        "no job on \(host) is meant by \"\(printable(reference))\"; pocket adopt -H \(host) lists them",
        exit: .usage)
    }
    guard found.count == 1 else {
      throw CommandError(
        "ambiguous", "\"\(printable(reference))\" may mean any of these on \(host); write an id",
        details: found.map { "  \($0.id): \(printable($0.request.title))" }, exit: .usage)
    }
    return job.id
  }
}

extension CommandContext {
  /// Lists what is not known here.
  fileprivate func show(
    _ listing: HostListing, on host: String, in store: JobStore, asJSON: Bool
  ) async throws -> ExitCode {
    var jobs: [HostJob] = []
    for job in listing.jobs where try await store.job(job.id) == nil { jobs.append(job) }
    jobs.sort { $0.createdAt > $1.createdAt }
    if asJSON {
      for job in jobs { try await console.write(JSONLine.bytes(of: DirectoryRecord(job, host))) }
      for directory in listing.passedOver {
        try await console.write(JSONLine.bytes(of: DirectoryRecord(directory, host)))
      }
      return .success
    }
    try await say(listing.passedOver, on: host)
    let known = listing.jobs.count - jobs.count
    guard !jobs.isEmpty else {
      try await console.say(
        "\(host) has no job that is not known here" + (known > 0 ? " (\(known) are)" : ""))
      return .success
    }
    let header = ["ID", "STATE", "MADE", "WHAT"]
    let rows = jobs.map { job in
      [
        job.id.description, StateWords(Job(job, on: host)).short,
        age(now() - job.createdAt) + " ago",
        printable((job.request.name.map { $0 + ": " } ?? "") + job.request.title),
      ]
    }
    let table = TextTable([header] + rows, width: console.facts.tableWidth)
    try await console.print(console.style.dim(table.line(header)))
    for row in rows { try await console.print(table.line(row)) }
    try await console.say(
      "to take them over: pocket adopt -H \(printable(host)) --all, or their ids in place of --all")
    return .success
  }

  fileprivate func say(_ passedOver: [PassedOver], on host: String) async throws {
    for directory in passedOver {
      try await console.say(
        "passed over on \(host): \(printable(directory.directory)), since \(directory.reason)")
    }
  }

  /// Tells how one adoption went; the others go on.
  fileprivate func tell(
    _ result: Result<Adoption, JobError>, on host: String, in store: JobStore, asJSON: Bool
  ) async throws -> ExitCode {
    let job: Job
    var words: [String]
    switch result {
    case .failure(let failure):
      return try await tell(CommandError(failure), asJSON: asJSON)
    case .success(.known(let known)):
      job = known
      words = ["\(job.label) is known here already, on \(job.host)"]
    case .success(.adopted(let adopted, let nameTaken)):
      job = adopted
      words = ["\(job.label) is taken over from \(host): \(StateWords(job).short)"]
      if let nameTaken {
        words.append("its name \(nameTaken) belongs to another job here, and was left out")
      }
      words.append("  pocket resume \(job.name ?? job.id.description)")
    }
    if asJSON {
      try await console.write(JSONLine.bytes(of: try await JobRecord(job, in: store)))
    } else {
      for line in words { try await console.say(line) }
    }
    return .success
  }
}

extension Job {
  /// A host's job as it would be here.
  fileprivate init(_ job: HostJob, on host: String) {
    self.init(id: job.id, host: host, request: job.request, createdAt: job.createdAt)
    (state, exit) = (job.state, job.exit)
  }
}

/// A directory where a host keeps its jobs, as `--json` shows it. All keys are always there.
private struct DirectoryRecord: Encodable {
  let host: String
  let directory: String
  let job: HostJob?
  let reason: PassedOver.Reason?

  init(_ job: HostJob, _ host: String) {
    (self.host, directory, self.job, reason) = (host, job.id.description, job, nil)
  }

  init(_ passedOver: PassedOver, _ host: String) {
    (self.host, directory, job, reason) = (host, passedOver.directory, nil, passedOver.reason)
  }

  private enum Key: String, CodingKey {
    case id, host, name, title, agent, state, detail, createdAt, directory, passedOver
  }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    let text = job?.state.description
    try object.encode(job?.id.description, forKey: .id)
    try object.encode(host, forKey: .host)
    try object.encode(job?.request.name, forKey: .name)
    try object.encode(job?.request.title, forKey: .title)
    try object.encode(job?.request.agent, forKey: .agent)
    try object.encode(text.map { String($0.prefix { $0 != " " }) }, forKey: .state)
    try object.encode(text, forKey: .detail)
    try object.encode(job?.createdAt, forKey: .createdAt)
    try object.encode(directory, forKey: .directory)
    try object.encode(reason?.description, forKey: .passedOver)
  }
}
