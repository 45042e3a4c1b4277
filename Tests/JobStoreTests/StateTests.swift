import JobModel
import Testing

@testable import JobStore

@Suite struct StateTests {
  let temporary: TemporaryStore
  let store: JobStore
  let id = jobID(1)

  init() async throws {
    temporary = try TemporaryStore()
    store = try await temporary.open()
    try await store.insert(makeJob())
  }

  private func record(
    out: Int64 = 4, err: Int64 = 2, status: JobModel.ExitStatus = .code(0), cancel: Bool = false
  ) -> ExitRecord {
    ExitRecord(
      status: status, outSize: ByteOffset(out), errSize: ByteOffset(err), startedAt: 1, endedAt: 2,
      cancelRequested: cancel)
  }

  @Test func aLaunchIsRecorded() async throws {
    try await store.recordLaunch(of: id, attempt: "feed", pid: 20, pgid: 21, at: 50)
    let job = try #require(await store.job(id))
    #expect(job.attempt == "feed")
    #expect(job.pid == 20 && job.pgid == 21)
    #expect(job.state == .running)
    #expect(job.stateAt == 50)
  }

  @Test func finishedMeansThatBothStreamsAreComplete() async throws {
    try await store.append("out\n", to: id, .out)
    #expect(try await !store.finish(id, record()))
    try await store.append("e\n", to: id, .err)
    for (out, err) in [(3, 2), (5, 2), (4, 1), (4, 3), (0, 0)] as [(Int64, Int64)] {
      #expect(try await !store.finish(id, record(out: out, err: err)))
    }
    #expect(try await store.job(id)?.state == .launching)
    #expect(try await store.finish(id, record(), at: 99))
    let job = try #require(await store.job(id))
    #expect(job.state == .finished(.code(0)))
    #expect(job.proved && job.stateAt == 99)
    #expect(job.exit == record())
    #expect(try await store.finish(id, record()))
  }

  @Test func onlyTheNewestGenerationCounts() async throws {
    try await store.append("outdated\n", to: id, .out)
    try await store.append("e\n", to: id, .err)
    _ = try await store.endGeneration(
      of: id, .out, generation: 0, reason: .shrunk, at: ByteOffset(9))
    #expect(try await !store.finish(id, record(out: 9)))
    try await store.append("out\n", to: id, .out)
    #expect(try await store.finish(id, record()))
  }

  @Test func aCancelBeforeTheRecordMakesACancelledJob() async throws {
    let record = record(out: 0, err: 0, status: .signal(15), cancel: true)
    #expect(try await store.finish(id, record))
    #expect(try await store.job(id)?.state == .cancelled(record))
  }

  @Test func aProvedEndStays() async throws {
    let left = [HostProcess(pid: 7, group: 6, command: "sleep 9"), HostProcess(pid: 8)]
    #expect(try await store.finish(id, record(out: 0, err: 0)))
    #expect(
      try await !store.record(.unreachable(since: 1, lastKnown: .finished(.code(0))), for: id))
    #expect(try await !store.record(.lost(.directoryGone), leftovers: left, for: id))
    let job = try #require(await store.job(id))
    #expect(job.state == .finished(.code(0)))
    #expect(job.leftovers == left)
    await #expect(throws: StoreError.self) { try await store.append("more\n", to: id) }
    await #expect(throws: StoreError.self) {
      try await store.endGeneration(of: id, .out, generation: 0, reason: .shrunk, at: .zero)
    }
  }

  @Test func aStateFollowsOnlyOnWhatAllowsIt() async throws {
    #expect(try await store.record(.running, at: 10, for: id))
    #expect(try await !store.record(.launching, at: 20, for: id))
    #expect(try await !store.record(.neverStarted(.removed), at: 20, for: id))
    #expect(try await store.job(id)?.stateAt == 10)
    let away = JobState.unreachable(since: 30, lastKnown: .running)
    #expect(try await store.record(away, at: 30, for: id))
    #expect(try await store.job(id)?.state == away)
    #expect(try await store.record(.finished(.code(1)), exit: record(), at: 40, for: id))
    let job = try #require(await store.job(id))
    #expect(job.state == .finished(.code(1)))
    #expect(job.exit == record())
    #expect(!job.proved)
  }

  @Test func whatNeverRanIsProvedToHaveNoOutput() async throws {
    let refused = JobState.neverStarted(.refused(.program, words: "no such program: 프로그램"))
    #expect(try await store.record(refused, for: id))
    let job = try #require(await store.job(id))
    #expect(job.state == refused)
    #expect(job.proved)
  }
}
