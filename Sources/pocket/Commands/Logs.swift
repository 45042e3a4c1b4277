import JobModel
import JobStore
import PocketKit

extension Command {
  static let logs = Command(
    "logs", summary: "Print what is stored of a job's output.",
    examples: [
      Example("pocket logs @", "what is here; no host is asked"),
      Example("pocket logs -f nightly", "and what comes, until it ends"),
      Example("pocket logs @ 2>/dev/null | less -R", "stdout only"),
    ],
    positionals: [Positional("job", .one, .job)],
    options: [follow.spec, Keys.rawJSON.spec, Keys.sshConfig.spec, Keys.transport.spec],
    notes: [
      """
      The job's stdout goes to stdout, its stderr to stderr. An agent's events are shown as text; \
      --json gives its lines as they are. Exit 0, whatever the job's own code: for that, resume or wait.
      """
    ]
  ) { invocation, context in
    let client = try await context.client(invocation)
    let job = try await client.store.resolve(invocation.positionals[0].shown)
    let asJSON = invocation[Keys.rawJSON]
    var printer = try await OutputPrinter(
      job, in: client.store, to: context.console, from: .start, isRaw: asJSON, movesMarks: false)
    guard invocation[follow] else {
      try await printer.printStored()
      try await printer.finish()
      return .success
    }
    var following = Following(job, with: client, in: context, printer: printer)
    let end = try await following.run(client.follow(job.id))
    let code = try await context.conclude(end, job, with: client, asJSON: asJSON)
    return code == .detached ? .detached : .success
  }

  private static let follow = OptionKey<Bool>.flag(
    "follow", "f", "go on with what comes, to the job's end")
}
