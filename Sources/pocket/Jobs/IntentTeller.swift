import JobModel
import JobStore
import PocketKit

/// Tells, on stderr, what becomes of wishes that waited for a host which a command has reached, and
/// keeps the program from ending while one is being carried out.
actor IntentTeller {
  private let console: Console
  private let now: @Sendable () -> Int64
  private let asJSON: Bool
  private var clients: [JobClient] = []
  /// What is being carried out.
  private var current: [JobID: (Intent, Job)] = [:]
  /// Whether the command has done its own work.
  private var isWaitedFor = false

  /// A teller; `now` gives seconds since 1970.
  init(_ console: Console, now: @escaping @Sendable () -> Int64, asJSON: Bool) {
    self.console = console
    self.now = now
    self.asJSON = asJSON
  }

  /// Wishes that this client carries out are waited for.
  func watch(_ client: JobClient) { clients.append(client) }

  /// The command has done its own work: returns when nothing is being carried out any more.
  func finish() async {
    isWaitedFor = true
    await attempt { for (intent, job) in current.values { try await announce(intent, job) } }
    for client in clients { await client.settleIntents() }
    await attempt { try await console.show(status: nil) }
  }

  /// Takes in what a client of this store tells.
  func take(_ event: IntentEvent, in store: JobStore) async {
    await attempt {
      switch event {
      case .began(let intent, let job):
        current[job.id] = (intent, job)
        if isWaitedFor { try await announce(intent, job) }
      case .cancelling(let job, .beyond(let processes)):
        if !processes.isEmpty, !asJSON {
          let wish = current[job.id].flatMap { CancelWish($0.0.wish) } ?? CancelWish()
          try await console.say("\(job.label): \(CancelWords.beyond(processes, of: job, wish))")
        }
      case .cancelling(let job, .step(let step)):
        if isWaitedFor { try await console.show(status: "\(job.host): \(step)…") }
      case .cancelling(_, .waiting): break
      case .cancelled(let intent, let job, let result):
        current[job.id] = nil
        if isWaitedFor { try await console.show(status: nil) }
        try await tell(result, intent, job, in: store)
      }
    }
  }

  private func announce(_ intent: Intent, _ job: Job) async throws {
    guard !asJSON else { return }
    try await console.say(
      "carrying out the cancel of \(job.label) on \(job.host), queued \(ago(intent));"
        + " Ctrl-C leaves it queued")
  }

  private func tell(
    _ result: Result<CancelReport, JobError>, _ intent: Intent, _ job: Job, in store: JobStore
  ) async throws {
    switch result {
    case .success(let report):
      let newest = try await store.job(job.id) ?? job
      if asJSON {
        let line = CancelLine(try await JobRecord(newest, in: store), report)
        try await console.writeErrors(JSONLine.bytes(of: line))
      } else {
        let lines = CancelWords(job: newest, report: report).lines
        try await console.say("the cancel queued \(ago(intent)) was carried out: \(lines[0])")
        for line in lines.dropFirst() { try await console.say(line) }
      }
    case .failure(let failure):
      let error = CommandError(failure)
      if asJSON {
        try await console.writeErrors(error.jsonLine)
      } else {
        try await console.say("the queued cancel of \(job.label): \(error.message)")
      }
    }
  }

  private func ago(_ intent: Intent) -> String { "\(age(now() - intent.wantedAt)) ago" }

  /// What cannot be said, since stderr or the store has gone, keeps no wish from being carried out.
  private func attempt(_ body: () async throws -> Void) async {
    do { try await body() } catch {}
  }
}
