import JobModel
import JobStore
import Testing

@testable import pocket

/// `pocket prune`, `adopt` and the limits in what commands say, against a real store and no host.
@Suite struct PruneCommandTests {
  let world: World

  init() throws { world = try World() }

  @Test func onlyWhatIsProvedAndOldEnoughWouldGo() async throws {
    // Jobs of these worlds were made an hour ago, and ended 90 s later.
    try await world.add("aaaaaaaaaaa1", end: .code(0))
    try await world.add("bbbbbbbbbbb2")
    let half = try await world.add("ccccccccccc3")
    let record = ExitRecord(
      status: .code(0), outSize: ByteOffset(9), errSize: .zero, startedAt: World.now - 3600,
      endedAt: World.now - 3500, cancelRequested: false)
    try await world.store().record(.finished(.code(0)), exit: record, at: World.now, for: half.id)
    let lost = try await world.add("ddddddddddd4")
    try await world.store().record(.lost(.removed), at: World.now - 3600, for: lost.id)
    let outcome = await world.run("prune", "--older", "30m", "--dry-run")
    #expect(outcome.code == 0)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 2 && lines[1].hasPrefix("aaaaaaaaaaa1"), "\(outcome.output)")
    #expect(await world.run("prune", "--older", "1h", "--dry-run").output.isEmpty)
    #expect(await world.run("prune", "--older", "1h").code == 0)
    #expect(await world.run("prune", "--older", "30m", "-H", "dev2").code == 0)
    #expect(try await world.store().jobs().count == 4)
  }

  @Test func theJobsOfAHostThatIsAwayStay() async throws {
    try await world.add("aaaaaaaaaaa1", end: .code(0))
    try await world.add("bbbbbbbbbbb2", end: .code(1))
    let outcome = await world.run("prune", "--older", "30m")
    #expect(outcome.code == 255)
    #expect(outcome.errors.contains("dev1 is away: 2 jobs there are left as before"))
    #expect(try await world.store().jobs().count == 2)
  }

  @Test func anAgeMustBeGivenAndBeOne() async throws {
    #expect(await world.run("prune").code == 64)
    for age in ["30", "0d", "d", "1.5h", "-1d"] {
      let outcome = await world.run("prune", "--older", Word(age))
      #expect(outcome.code == 64 && outcome.errors.contains("30d"), "\(outcome.errors)")
    }
  }

  @Test func adoptWantsAHostAndEitherJobsOrAll() async throws {
    #expect(await world.run("adopt").errors.contains("no host is set"))
    #expect(await world.run("adopt", "-H", "dev1", "--all", "x").code == 64)
    #expect(await world.run("adopt", "-H", "dev1").code == 255)
  }

  @Test func whatALimitDidIsSaid() async throws {
    for (id, limit, capped) in [
      ("aaaaaaaaaaa1", ExitRecord.Limit.timeout, []), ("bbbbbbbbbbb2", .output, [JobStream.out]),
    ] {
      var request = JobRequest(arguments: [Array("make".utf8)])
      request.limits = JobLimits(timeout: 7200, maxOutput: 500_000_000)
      let store = try await world.store()
      let job = Job(
        id: try #require(JobID(id)), host: "dev1", request: request, createdAt: World.now)
      try await store.insert(job)
      try await store.recordLaunch(of: job.id, attempt: "a", pid: 42, pgid: 42, at: World.now)
      let record = ExitRecord(
        status: .signal(15), outSize: .zero, errSize: .zero, startedAt: World.now,
        endedAt: World.now + 7200, cancelRequested: false, limit: limit, cappedStreams: Set(capped))
      try #require(await store.finish(job.id, record, at: World.now))
    }
    #expect(await world.run("wait", "aaaaaaaaaaa1").code == 124)
    let stopped = await world.run("wait", "bbbbbbbbbbb2")
    #expect(stopped.code == 153)
    #expect(stopped.errors.contains("out ended at the limit of 500 MB, what followed is gone"))
    let list = await world.run("ls").output
    #expect(list.contains("timed out after 2 h") && list.contains("stopped, too much output"))
    let shown = await world.run("show", "bbbbbbbbbbb2").output
    #expect(shown.contains("limits   ended after 2 h, ended at 500 MB of output"), "\(shown)")
    let json = await world.run("show", "bbbbbbbbbbb2", "--json").output
    #expect(json.contains(#""limit":"output""#) && json.contains(#""cappedStreams":["out"]"#))
    #expect(json.contains(#""timeoutSeconds":7200"#) && json.contains(#""onMaxOutput":"stop""#))
  }
}
