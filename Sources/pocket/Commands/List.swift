import JobModel
import JobStore
import PocketKit

extension Command {
  static let list = Command(
    "ls", summary: "List the jobs.",
    examples: [
      Example("pocket ls", "as the store knows them; no host is asked"),
      Example("pocket ls -H dev1 --refresh", "those on dev1, after a look there"),
      Example("pocket ls --json | jq -r .id", "for scripts"),
    ],
    options: [
      host.spec, Keys.refresh.spec, Keys.sshConfig.spec, Keys.transport.spec, Keys.json.spec,
    ],
    notes: ["SEEN is how old the evidence for a state is. For one job: pocket show JOB"]
  ) { invocation, context in
    let client = try await context.client(invocation)
    let store = client.store
    let onlyHost = try context.text(invocation[host])
    if invocation[Keys.refresh] {
      try await context.refresh(try await store.jobs(host: onlyHost), with: client)
    }
    let jobs = try await store.jobs(host: onlyHost)
    let console = context.console
    if jobs.isEmpty, !invocation[Keys.json] {
      try await console.say("no job yet; to start one: pocket run -H HOST -- COMMAND")
      return .success
    }
    var table = JobTable(style: console.style, width: console.facts.tableWidth)
    for job in jobs {
      let record = try await JobRecord(job, in: store)
      if invocation[Keys.json] {
        try await console.write(JSONLine.bytes(of: record))
      } else {
        table.add(record, now: context.now(), note: record.queuedCancel(now: context.now()))
      }
    }
    if !invocation[Keys.json] {
      for line in table.lines(withHeader: true) { try await console.print(line) }
    }
    return .success
  }

  private static let host = OptionKey<Word?>.value(
    "host", "H", "HOST", completion: .host, "only the jobs on this host")
}

extension CommandContext {
  /// Looks at all jobs whose end is not proved, or about which a wish waits. A host that cannot be
  /// asked is told of once, and its jobs become unreachable.
  func refresh(_ jobs: [Job], with client: JobClient) async throws {
    let wanted = Set(try await client.store.intents().map(\.job))
    let open = jobs.filter { !$0.proved || wanted.contains($0.id) }
    let hosts = Set(open.map(\.host)).sorted()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for host in hosts {
        group.addTask {
          var failure: JobError?
          for job in open where job.host == host {
            do throws(JobError) {
              _ = try await client.inspect(job.id)
            } catch {
              failure = error
              // One refusal is enough to know that the others would wait as long for theirs.
              if case .host = error { break }
            }
          }
          if let failure { try await console.say("\(failure)") }
        }
      }
      try await console.show(status: "asking \(hosts.joined(separator: ", "))…")
      try await group.waitForAll()
      try await console.show(status: nil)
    }
  }
}
