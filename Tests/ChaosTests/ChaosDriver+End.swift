import JobModel
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension ChaosDriver {
  /// Ends all faults and all clients, takes every job to its end, and compares what became of it with
  /// what was done to it.
  func end() async throws {
    try await applyRemedies(all: true)
    for client in clients where client.command.isRunning { client.command.signal(SIGKILL) }
    for index in clients.indices { clients[index].wasKilled = true }
    for client in clients { _ = try await client.command.exit() }
    try reapClients()
    try findJobs()
    note("the end: every job is resumed")
    try await forEachJob(["resume"], "resume")
    try lookAround()
    guard differences.isEmpty else { return }
    try await endLeftovers()
    let rows = try reader.jobs()
    for row in rows {
      guard let job = jobs.firstIndex(where: { $0.id == row.id }) else {
        different(nil, "the store has a job \(row.id) \(row.title) that nobody made")
        continue
      }
      try await checkEnd(job, row)
    }
    let queued = try reader.intents()
    if !queued.isEmpty { different(nil, "wishes that nobody has carried out: \(queued)") }
    let integrity = try reader.integrity()
    if integrity != "ok" { different(nil, "SQLite's integrity check: \(integrity)") }
    try lookAround()
    note("the end: every job is verified")
    try await forEachJob(["verify"], "verify")
  }

  /// Calls a verb for each job that was started, a few at once, and looks at what it ends with.
  private func forEachJob(_ words: [String], _ verb: String) async throws {
    var next = jobs.indices.filter { jobs[$0].id != nil }[...]
    try await withThrowingTaskGroup(of: (Int, CommandResult).self) { group in
      func startNext() {
        guard let job = next.popFirst(), let id = jobs[job].id else { return }
        let command = world.pocket(words + ["\(id)"])
        group.addTask { (job, try await command.run(deadline: .seconds(180))) }
      }
      for _ in 0..<4 { startNext() }
      while let (job, result) = try await group.next() {
        startNext()
        guard let host = host(job) else { continue }
        if verb == "verify" {
          if host.started != nil, host.exit != nil, result.code != 0 {
            different(
              job, "verify ended with \(result.end): \(result.outputText)\(result.errorText)")
          }
          continue
        }
        let file = (try? readFile(host.file(.out))) ?? []
        if let exit = host.exit {
          if result.output != Array(file.prefix(Int(exit.outSize.rawValue))) {
            different(
              job,
              "resume gave \(result.output.count) bytes, which are not the job file's "
                + "\(exit.outSize): \(result.errorText.suffix(300))")
          }
        } else if !file.starts(with: result.output) {
          different(job, "resume gave what is not in the job file")
        }
      }
    }
  }

  /// What a killed job left behind is ended on request, and then there is nothing.
  private func endLeftovers() async throws {
    for (id, pids) in try carriers() {
      guard let job = jobs.firstIndex(where: { $0.id?.description == id }) else { continue }
      note("\(id) left \(pids)")
      let result = try await world.pocket(["cancel", "--left-over", id]).run()
      if let left = try carriers()[id] {
        different(
          job,
          "\(left) live after cancel --left-over, which ended with \(result.end): "
            + result.errorText)
      }
    }
  }

  /// What must have become of a job, by its directory and by what was done to its processes.
  private func checkEnd(_ job: Int, _ row: StoreReader.Row) async throws {
    let (plan, starts) = (jobs[job].plan, world.starts(jobs[job].plan))
    guard let host = host(job) else { return }
    check(row.state, host, job)
    let leaderWasKilled = host.leader.map { killed.contains($0) } == true
    let supervisorWasKilled = host.supervisor.map { killed.contains($0) } == true
    func expect(_ holds: Bool, _ what: String) {
      if holds { return }
      different(
        job,
        "\(what): \(row.state)\(row.proved ? ", proved" : ""); \(starts) starts; record "
          + "\(record(host)); cancel \(jobs[job].cancelAsked ? "asked" : "not asked"); leader "
          + "\(leaderWasKilled ? "killed" : "left alone"); supervisor "
          + "\(supervisorWasKilled ? "killed" : "left alone"); \(plan.command)")
    }
    if host.wasCancelledBeforeTheStart {
      expect(jobs[job].cancelAsked, "cancelled, and nobody asked for it")
      expect(row.state == .cancelled(nil) && starts == 0, "cancelled before the start")
      return
    }
    if host.wasRefused {
      expect(plan.kind == .missing && starts == 0, "refused")
      if case .neverStarted(.refused) = row.state { return }
      return expect(false, "refused")
    }
    guard host.started != nil else {
      if case .neverStarted(.notLaunched) = row.state { return expect(starts == 0, "not launched") }
      return expect(false, "never launched")
    }
    expect(starts == 1 || starts == 0 && leaderWasKilled || jobs[job].cancelAsked, "starts")
    expect(starts <= 1, "starts")
    guard let exit = host.exit else {
      expect(supervisorWasKilled, "no record")
      if case .lost = row.state { return }
      return expect(false, "no record")
    }
    expect(row.proved, "not all is here")
    expect(
      row.state == (exit.cancelRequested ? .cancelled(exit) : .finished(exit.status)), "the record")
    expect(jobs[job].cancelAsked || !exit.cancelRequested, "cancelled, and nobody asked for it")
    switch exit.status {
    case .code(let code):
      expect(world.reachedItsEnd(plan) && code == plan.code, "its own code")
    case .signal(9): expect(leaderWasKilled || exit.cancelRequested, "killed, and by whom?")
    case .signal(15): expect(exit.cancelRequested, "ended, and by whom?")
    default: expect(false, "how it ended")
    }
  }
}
