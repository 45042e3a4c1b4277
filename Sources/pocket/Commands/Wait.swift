import JobModel
import JobStore
import PocketKit

extension Command {
  static let wait = Command(
    "wait", summary: "Wait until jobs are over, and print nothing.",
    examples: [
      Example("pocket wait @ && echo fine", "the newest job's own exit code"),
      Example("pocket wait build test lint", "all three; the first code that is not 0"),
    ],
    positionals: [Positional("job", .oneOrMore, .job)],
    options: [Keys.json.spec, Keys.sshConfig.spec, Keys.transport.spec],
    notes: [
      """
      The output is fetched meanwhile, so that `pocket logs` has it. Ctrl-C stops the waiting, not \
      the jobs.
      """,
      "Exit: the job's own code; others: pocket\u{A0}help\u{A0}exit-codes. To name a job: pocket\u{A0}help\u{A0}jobs",
    ]
  ) { invocation, context in
    let client = try await context.client(invocation)
    let jobs = try await context.jobs(invocation.positionals, in: client.store)
    let asJSON = invocation[Keys.json]
    let codes = try await withThrowingTaskGroup(of: (Int, ExitCode).self) { group in
      for (index, job) in jobs.enumerated() {
        group.addTask {
          var following = Following(job, with: client, in: context, printer: nil)
          let end = try await following.run(client.follow(job.id))
          return (index, try await context.conclude(end, job, with: client, asJSON: asJSON))
        }
      }
      var codes: [Int: ExitCode] = [:]
      for try await (index, code) in group {
        codes[index] = code
        if code == .detached { group.cancelAll() }
      }
      return codes
    }
    let inOrder = jobs.indices.compactMap { codes[$0] }
    return inOrder.first { $0 == .detached } ?? inOrder.first { $0 != .success } ?? .success
  }
}
