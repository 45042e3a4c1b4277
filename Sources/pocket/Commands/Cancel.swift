import JobModel
import JobStore
import PocketKit

extension Command {
  static let cancel = Command(
    "cancel", summary: "End jobs with all they started, and prove it.",
    examples: [
      Example("pocket cancel @", "the newest job"),
      Example("pocket cancel --grace 1m build test", "both, with a minute to end by themselves"),
      Example("pocket cancel --left-over @", "also what a job that has ended left running"),
    ],
    positionals: [Positional("job", .oneOrMore, .job)],
    options: [
      grace.spec, groupOnly.spec, leftovers.spec, Keys.json.spec, Keys.sshConfig.spec,
      Keys.transport.spec,
    ],
    notes: [
      """
      The job is asked to end (TERM), has its time to do so, and is then killed, with every process \
      it started: those outside its group are listed first. When the host is away the cancel is \
      queued, and the next command that reaches the host carries it out. To cancel twice is no error.
      """,
      "Exit: 0 proved dead, 1 something survived, 75 queued. To name a job: pocket\u{A0}help\u{A0}jobs",
    ]
  ) { invocation, context in
    let wish = try wish(invocation, in: context)
    let client = try await context.client(invocation)
    let jobs = try await context.jobs(invocation.positionals, in: client.store)
    // All wishes first: whatever becomes of this process, none of them is forgotten.
    var cancels: [QueuedCancel] = []
    for job in jobs { cancels.append(try await client.queueCancel(of: job.id, wish)) }
    var code = ExitCode.success
    var away: [String: JobError] = [:]
    for cancel in cancels {
      let asJSON = invocation[Keys.json]
      let result: Result<CancelReport, JobError>
      if let failure = away[cancel.job.host] {
        result = .failure(failure)
      } else {
        result = try await context.carryOut(cancel, wish, with: client, asJSON: asJSON)
      }
      if case .failure(.cancelQueued(.host(let error))) = result {
        away[cancel.job.host] = .cancelQueued(.host(error))
      }
      let next = try await context.tell(result, cancel.job, in: client.store, asJSON: asJSON)
      if code == .success { code = next }
    }
    return code
  }

  private static let grace = OptionKey<Word?>.value(
    "grace", nil, "TIME", "between TERM and KILL: 10, 10s or 1m (default: 5 s)")
  private static let groupOnly = OptionKey<Bool>.flag(
    "group-only", nil, "leave alone what it started outside its group")
  private static let leftovers = OptionKey<Bool>.flag(
    "left-over", nil, "end also what still lives of a job that has ended")

  private static func wish(
    _ invocation: Invocation, in context: CommandContext
  ) throws -> CancelWish {
    var wish = CancelWish()
    if let text = try context.text(invocation[grace]) {
      guard let seconds = seconds(text), CancelWish.possibleGrace.contains(seconds)
      else {
        throw UsageError(
          "'\(printable(text))' is no value of '--grace'",
          hint: "it is a time of at most an hour: 10, 10s or 1m", command: "cancel")
      }
      wish.grace = seconds
    }
    if invocation[groupOnly] { wish.reach = .group }
    if invocation[leftovers] { wish.leftovers = .end }
    return wish
  }

  /// A number alone means seconds, as for sleep(1) and timeout(1); none at all may be wished, too.
  private static func seconds(_ text: String) -> Int? {
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    let written = isNumber ? text + "s" : text
    return written == "0s" ? 0 : DurationText(written).map { Int($0.seconds) }
  }
}

extension CommandContext {
  /// Carries one cancel out, and shows how it goes on.
  fileprivate func carryOut(
    _ cancel: QueuedCancel, _ wish: CancelWish, with client: JobClient, asJSON: Bool
  ) async throws -> Result<CancelReport, JobError> {
    let job = cancel.job
    if !asJSON { try await console.say("cancelling \(job.label) on \(job.host)") }
    try await console.show(status: "connecting to \(job.host)…")
    let result: Result<CancelReport, JobError>
    do throws(JobError) {
      result = .success(
        try await client.cancel(cancel) { await show($0, of: job, wish, asJSON: asJSON) })
    } catch {
      result = .failure(error)
    }
    try await console.show(status: nil)
    return result
  }

  private func show(
    _ progress: CancelProgress, of job: Job, _ wish: CancelWish, asJSON: Bool
  ) async {
    do {
      switch progress {
      case .waiting:
        try await console.show(
          status: "another pocket is cancelling \(job.label)…", isNews: !asJSON)
      case .step(let step): try await console.show(status: "\(job.host): \(step)…")
      case .beyond(let processes) where processes.isEmpty: break
      case .beyond(let processes):
        if asJSON {
          let line = BeyondLine(
            id: job.id.description, beyond: processes.map(ProcessRecord.init))
          try await console.writeErrors(JSONLine.bytes(of: line))
        } else {
          try await console.say(CancelWords.beyond(processes, of: job, wish))
        }
      }
    } catch {
      // stderr is gone. The cancel goes on, and its end finds that out.
    }
  }

  /// Tells how one cancel went; the others go on.
  fileprivate func tell(
    _ result: Result<CancelReport, JobError>, _ job: Job, in store: JobStore, asJSON: Bool
  ) async throws -> ExitCode {
    switch result {
    case .failure(let failure):
      return try await tell(CommandError(failure), asJSON: asJSON)
    case .success(let report):
      let newest = try await store.job(job.id) ?? job
      if asJSON {
        let line = CancelLine(try await JobRecord(newest, in: store), report)
        try await console.write(JSONLine.bytes(of: line))
      } else {
        for line in CancelWords(job: newest, report: report).lines { try await console.say(line) }
      }
      return report.survivors.isEmpty ? .success : .failure
    }
  }
}
