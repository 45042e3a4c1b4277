import JobModel
import JobStore
import PocketKit

extension Command {
  static let cancel = Command(
    "cancel", summary: "End jobs with all they started, and prove it.",
    examples: [
      Example("pocket cancel @", "the newest job"),
      Example("pocket cancel build test", "both"),
      Example("pocket cancel --left-over @", "also what a job that has ended left running"),
    ],
    positionals: [Positional("job", .oneOrMore, .job)],
    options: [leftovers.spec, Keys.json.spec, Keys.sshConfig.spec, Keys.transport.spec],
    notes: [
      """
      The job is asked to end (TERM), has 5 s to do so, and is then killed, with every process it \
      started. When the host is away the cancel is kept and carried out at the next contact. To \
      cancel twice is no error.
      """,
      "Exit: 0 proved dead, 1 something survived, 75 queued. To name a job: pocket\u{A0}help\u{A0}jobs",
    ]
  ) { invocation, context in
    let client = try await context.client(invocation)
    let jobs = try await context.jobs(invocation.positionals, in: client.store)
    let console = context.console
    let asJSON = invocation[Keys.json]
    var code = ExitCode.success
    for job in jobs {
      if !asJSON { try await console.say("cancelling \(job.label) on \(job.host)") }
      try await console.show(status: "connecting to \(job.host)…")
      let (steps, continuation) = AsyncStream.makeStream(of: String.self)
      let showing = Task {
        for await step in steps { try await console.show(status: "\(job.host): \(step)…") }
      }
      let result: Result<CancelReport, JobError>
      do throws(JobError) {
        let report = try await client.cancel(
          job.id, leftovers: invocation[leftovers] ? .end : .list
        ) { continuation.yield($0) }
        result = .success(report)
      } catch {
        result = .failure(error)
      }
      continuation.finish()
      _ = await showing.result
      try await console.show(status: nil)
      let next = try await context.tell(result, job, in: client.store, asJSON: asJSON)
      if code == .success { code = next }
    }
    return code
  }

  private static let leftovers = OptionKey<Bool>.flag(
    "left-over", nil, "end also what still lives of a job that has ended")
}

extension CommandContext {
  /// Tells how one cancel went; the others go on.
  fileprivate func tell(
    _ result: Result<CancelReport, JobError>, _ job: Job, in store: JobStore, asJSON: Bool
  ) async throws -> ExitCode {
    switch result {
    case .failure(let failure):
      let error = CommandError(failure)
      if asJSON {
        try await console.writeErrors(error.jsonLine)
      } else {
        try await console.say(error.message)
      }
      return error.exit
    case .success(let report):
      let newest = try await store.job(job.id) ?? job
      if asJSON {
        let line = CancelLine(
          job: try await JobRecord(newest, in: store), survivors: report.survivors.map(\.pid),
          leftovers: report.leftovers.map(\.pid), wasOver: report.wasOver)
        try await console.write(JSONLine.bytes(of: line))
      } else {
        for line in lines(for: report, newest) { try await console.say(line) }
      }
      return report.survivors.isEmpty ? .success : .failure
    }
  }

  private func lines(for report: CancelReport, _ job: Job) -> [String] {
    func list(_ processes: [HostProcess]) -> String {
      processes.map(\.label).joined(separator: ", ")
    }
    if !report.survivors.isEmpty {
      return ["\(job.label): these processes survived on \(job.host): \(list(report.survivors))"]
    }
    if report.wasOver {
      var lines = ["\(job.label) was over already: \(StateWords(job.state).short)"]
      if !report.leftovers.isEmpty {
        lines.append(
          "left alone, since they may be meant to stay: \(list(report.leftovers));"
            + " to end them: pocket cancel --left-over \(job.id)")
      }
      return lines
    }
    return ["\(job.label): nothing of it is alive on \(job.host)"]
  }
}

private struct CancelLine: Encodable {
  let job: JobRecord
  let survivors: [Int]
  let leftovers: [Int]
  let wasOver: Bool
}
