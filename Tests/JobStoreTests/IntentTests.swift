import JobModel
import TestSupport
import Testing

@testable import JobStore

/// Wishes, and who holds them.
@Suite struct IntentTests {
  private let temporary: TemporaryStore
  private let store: JobStore

  init() async throws {
    temporary = try TemporaryStore()
    store = try await temporary.open()
    for number in 1...3 {
      try await store.insert(makeJob(number, host: number < 3 ? "dev1" : "dev2"))
    }
  }

  private func claim(_ number: Int, at time: Int64, in store: JobStore? = nil) async throws
    -> IntentClaim?
  {
    try await (store ?? self.store).claimIntent(.cancel, of: jobID(number), at: time)
  }

  @Test func aWishIsKeptUntilItWasCarriedOut() async throws {
    try await store.addIntent(.cancel, for: jobID(1), wish: "a", at: 10)
    try await store.addIntent(.cancel, for: jobID(1), wish: "b", at: 20)
    try await store.addIntent(.cancel, for: jobID(3), at: 30)
    let first = Intent(job: jobID(1), kind: .cancel, wish: "b", wantedAt: 10)
    #expect(try await store.intents(for: "dev1") == [first])
    #expect(try await store.intents(of: jobID(1)) == [first])
    #expect(try await store.intents().map(\.job) == [jobID(1), jobID(3)])
    let claim = try #require(await store.claimNextIntent(for: "dev1", at: 40))
    #expect(claim.intent == first)
    #expect(try await store.intents(for: "dev1") == [first])
    #expect(try await store.finish(claim))
    #expect(try await store.intents(for: "dev1").isEmpty)
    #expect(try await store.intents(for: "dev2").count == 1)
    await #expect(throws: StoreError.self) { try await store.addIntent(.cancel, for: jobID(9)) }
  }

  @Test func whatIsHeldIsNobodyElses() async throws {
    let other = try await temporary.open()
    try await store.addIntent(.cancel, for: jobID(1), at: 10)
    let held = try #require(await claim(1, at: 20))
    #expect(try await claim(1, at: 20) == nil)
    #expect(try await claim(1, at: 20, in: other) == nil)
    #expect(try await other.claimNextIntent(for: "dev1", at: 20) == nil)
    try await store.release(held)
    let second = try #require(await claim(1, at: 20, in: other))
    // The one who had it before takes nothing away.
    try await store.release(held)
    try await store.renew(held, at: 500)
    #expect(try await claim(1, at: 20) == nil)
    #expect(try await other.finish(second))
  }

  @Test func theNextOneIsTheOldestThatWasNotTried() async throws {
    for number in [2, 1] { try await store.addIntent(.cancel, for: jobID(number), at: 10) }
    let first = try #require(await store.claimNextIntent(for: "dev1", at: 20))
    try await store.release(first)
    let second = try #require(
      await store.claimNextIntent(for: "dev1", after: first.number, at: 20))
    #expect([first, second].map(\.intent.job) == [jobID(2), jobID(1)])
    #expect(try await store.claimNextIntent(for: "dev1", after: second.number, at: 20) == nil)
  }

  @Test func aWishThatWasReplacedMeanwhileStillWaits() async throws {
    try await store.addIntent(.cancel, for: jobID(1), wish: "gently", at: 10)
    let held = try #require(await claim(1, at: 20))
    try await store.addIntent(.cancel, for: jobID(1), wish: "now", at: 21)
    #expect(try await claim(1, at: 21) == nil)
    #expect(try await store.finish(held) == false)
    #expect(try await claim(1, at: 22)?.intent.wish == "now")
  }

  @Test func aClaimThatIsNotRenewedRunsOut() async throws {
    let lease = IntentClaim.lease
    try await store.addIntent(.cancel, for: jobID(1), at: 10)
    let stopped = try #require(await claim(1, at: 1000))
    try await store.renew(stopped, at: 1030)
    #expect(try await claim(1, at: 1030 + lease - 1) == nil)
    let second = try #require(await claim(1, at: 1030 + lease))
    // The clock was set back by a day: no claim reaches so far.
    let third = try #require(await claim(1, at: 1030 + lease - 86400))
    withExtendedLifetime((stopped, second, third)) {}
  }

  @Test func theWishOfAClientThatIsGoneIsFreeAtOnce() async throws {
    try await store.addIntent(.cancel, for: jobID(1), at: 10)
    do { _ = try #require(await claim(1, at: 20)) }
    #expect(marks().isEmpty)
    let second = try #require(await claim(1, at: 20))
    #expect(marks().count == 1)
    // As a killed one leaves it: the file is there, its lock is not.
    let left = "\(temporary.location.path)-holder-killed"
    try writeFile(left, [])
    try await store.hold(second, as: "killed")
    let third = try #require(await claim(1, at: 20))
    #expect(!fileExists(left))
    withExtendedLifetime((second, third)) {}
  }

  private func marks() -> [String] {
    namesInFolder(temporary.folder["state"]).filter { $0.contains("-holder-") }
  }

  @Test func manyWhoDrainAtOnceCarryEachWishOutOnce() async throws {
    for number in 10..<40 {
      try await store.insert(makeJob(number))
      try await store.addIntent(.cancel, for: jobID(number))
    }
    let temporary = temporary
    let carriedOut = try await withThrowingTaskGroup(of: [JobID].self) { group in
      for _ in 1...6 {
        group.addTask {
          let store = try await temporary.open()
          var jobs: [JobID] = []
          while let claim = try await store.claimNextIntent(for: "dev1") {
            jobs.append(claim.intent.job)
            await Task.yield()
            try await store.finish(claim)
          }
          return jobs
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(carriedOut).count == 30 && carriedOut.count == 30)
    #expect(try await store.intents().isEmpty)
  }
}

extension JobStore {
  fileprivate func hold(_ claim: IntentClaim, as holder: String) throws {
    try database.connection.run(
      "UPDATE intent SET holder = ? WHERE number = ?", [.text(holder), .integer(claim.number)])
  }
}
