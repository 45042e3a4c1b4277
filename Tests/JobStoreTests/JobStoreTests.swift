import JobModel
import TestSupport
import Testing

@testable import JobStore

@Suite struct JobStoreTests {
  let temporary: TemporaryStore
  let store: JobStore

  init() async throws {
    temporary = try TemporaryStore()
    store = try await temporary.open()
  }

  @Test func aJobComesBackAsItWas() async throws {
    let job = makeJob(name: "night")
    try await store.insert(job)
    #expect(try await store.job(job.id) == job)
    let other = try await temporary.open()
    #expect(try await other.job(job.id) == job)
    #expect(try await store.job(jobID(2)) == nil)
  }

  @Test func anAdoptedJobKeepsTheDigestOfItsHost() async throws {
    var job = makeJob()
    let digest = job.digest
    job.request.prompt = []
    try await store.insert(job)
    let stored = try #require(await store.job(job.id))
    #expect(stored.digest == digest)
    #expect(stored.request.digest != digest)
  }

  @Test func jobsAreListedNewestFirst() async throws {
    for number in [3, 1, 2] {
      try await store.insert(makeJob(number, host: number == 1 ? "dev2" : "dev1"))
    }
    #expect(try await store.jobs().map(\.id) == [jobID(2), jobID(1), jobID(3)])
    #expect(try await store.jobs(host: "dev1").map(\.id) == [jobID(2), jobID(3)])
    #expect(try await store.jobs(host: "dev").isEmpty)
  }

  @Test func idsAndNamesAreUnique() async throws {
    try await store.insert(makeJob(1, name: "night"))
    await #expect(throws: StoreError.self) { try await store.insert(makeJob(1)) }
    let error = await refusal { () async throws(StoreError) in
      try await store.insert(makeJob(2, name: "night"))
    }
    guard case .nameTaken(let name, let owner)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(name == "night")
    #expect(owner == jobID(1))
    #expect(try await store.jobs().count == 1)
    try await store.remove(jobID(1))
    try await store.insert(makeJob(2, name: "night"))
  }

  @Test func aNameLikeAnIdIsRefused() async throws {
    let error = await refusal { () async throws(StoreError) in
      try await store.insert(makeJob(1, name: "abcdefghijk1"))
    }
    guard case .invalidRequest(let error)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error == .badName("abcdefghijk1"))
  }

  @Test func removingAJobTakesItsOutputAlong() async throws {
    for number in 1...2 {
      try await store.insert(makeJob(number))
      try await store.append("line\n", to: jobID(number))
      try await store.addIntent(.cancel, for: jobID(number))
      try await store.setShownMark(StreamPosition(offset: ByteOffset(5)), of: jobID(number), .out)
    }
    try await store.remove(jobID(1))
    try await store.remove(jobID(1))
    #expect(try await store.jobs().map(\.id) == [jobID(2)])
    #expect(try await store.bytes(of: jobID(2), .out) == Array("line\n".utf8))
    #expect(try await store.intents(for: "dev1").map(\.job) == [jobID(2)])
    await #expect(throws: StoreError.self) { try await store.position(of: jobID(1), .out) }
  }

  @Test func notesAreKept() async throws {
    let id = jobID(1)
    try await store.insert(makeJob())
    try await store.setAgentSession("s-1", of: id)
    try await store.setOutcome("success", of: id)
    try await store.setLateBytes(out: 7, err: 8, for: id)
    let job = try #require(await store.job(id))
    #expect(job.agentSession == "s-1")
    #expect(job.outcome == "success")
    #expect(job.lateOut == 7 && job.lateErr == 8)
    #expect(try await store.lastLooked() == nil)
    try await store.markLooked(at: 5)
    try await store.markLooked(at: 6)
    #expect(try await store.lastLooked() == 6)
    await #expect(throws: StoreError.self) { try await store.setOutcome("x", of: jobID(9)) }
  }

  @Test func theShownMarkOnlyMovesForward() async throws {
    let id = jobID(1)
    try await store.insert(makeJob())
    #expect(try await store.shownMark(of: id, .out) == nil)
    func mark(_ generation: Int, _ offset: Int64) async throws -> [Int64] {
      let position = StreamPosition(generation: generation, offset: ByteOffset(offset))
      try await store.setShownMark(position, of: id, .out)
      let stored = try #require(await store.shownMark(of: id, .out))
      return [Int64(stored.generation), stored.offset.rawValue]
    }
    #expect(try await mark(0, 100) == [0, 100])
    #expect(try await mark(0, 50) == [0, 100])
    #expect(try await mark(1, 10) == [1, 10])
    #expect(try await mark(0, 900) == [1, 10])
    #expect(try await store.shownMark(of: id, .err) == nil)
  }
}
