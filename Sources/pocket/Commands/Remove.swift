import JobModel
import JobStore
import PocketKit

extension Command {
  static let remove = Command(
    "rm", summary: "Remove jobs that are over, on the host and here.",
    examples: [
      Example("pocket rm @2", "the job before the newest"),
      Example("pocket rm --local old", "forget it here; the host keeps what it has"),
    ],
    positionals: [Positional("job", .oneOrMore, .job)],
    options: [local.spec, Keys.json.spec, Keys.sshConfig.spec, Keys.transport.spec],
    notes: [
      """
      A job that runs, or whose output is not all here, is refused. When the host is away, nothing \
      is changed (exit 255). What another device has of the job it keeps; what it has not read is gone.
      """,
      "To name a job: pocket\u{A0}help\u{A0}jobs",
    ]
  ) { invocation, context in
    let client = try await context.client(invocation)
    let jobs = try await context.jobs(invocation.positionals, in: client.store)
    for job in jobs {
      let late = job.lateOut - job.lateOutTaken + job.lateErr - job.lateErrTaken
      if invocation[local] {
        try await client.forget(job.id)
      } else {
        try await context.console.show(status: "connecting to \(job.host)…")
        try await client.remove(job.id)
        try await context.console.show(status: nil)
      }
      if invocation[Keys.json] {
        try await context.console.write(JSONLine.bytes(of: ["removed": job.id.description]))
      } else {
        let place =
          invocation[local] ? "here; \(job.host) keeps what it has" : "here and on \(job.host)"
        try await context.console.say("\(job.label) is removed, \(place)")
        if late > 0, !invocation[local] {
          try await context.console.say(
            "gone too: \(size(late)) that came after its end and were not taken in")
        }
      }
    }
    return .success
  }

  private static let local = OptionKey<Bool>.flag(
    "local", nil, "forget it here only, and ask no host")
}
