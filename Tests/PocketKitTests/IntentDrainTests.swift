import JobModel
import JobStore
import PocketKit
import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Cancels that were queued, and the contacts that carry them out.
@Suite struct IntentDrainTests {
  @Test func aCancelWithoutTheHostIsCarriedOutAtTheNextContact() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 300"))
      let other = try await client.start(.shell("echo other"))
      await client.disconnect()
      try await world.server.stopListening()
      let away = world.client()
      do throws(JobError) {
        _ = try await away.cancel(job.id, CancelWish(grace: 1))
        Issue.record("it was carried out")
      } catch {
        guard case .cancelQueued(.host) = error else {
          Issue.record("\(error)")
          return
        }
      }
      let queued = try await world.store.intents(for: "dev1")
      #expect(queued.map(\.job) == [job.id])
      #expect(queued.first.flatMap { CancelWish($0.wish) } == CancelWish(grace: 1))
      try await world.server.startListening()
      let back = world.client()
      _ = try await back.followToEnd(other.id)
      await back.settleIntents()
      #expect(try ProcessEntry.carrying("POCKET_JOB=\(job.id)").isEmpty)
      #expect(try await world.store.intents(for: "dev1").isEmpty)
    }
  }

  @Test func whatTheContactWasMadeForDoesNotWaitForTheDrain() async throws {
    try await World.with { world in
      let client = world.client()
      let deaf = try await client.start(.shell("trap '' TERM; while :; do sleep 0.1; done"))
      let other = try await client.start(.shell("sleep 300"))
      await client.disconnect()
      try await world.store.addIntent(
        .cancel, for: deaf.id, wish: CancelWish(grace: 3600).description)
      let next = world.client()
      #expect(try await next.inspect(other.id).state == .running)
      try await waitUntil("the cancel's mark") {
        fileExists(world.jobFolder(deaf.id) + "/cancel")
      }
      #expect(try await next.inspect(other.id).state == .running)
      #expect(try await world.store.intents().map(\.job) == [deaf.id])
      // The drain would wait an hour for this.
      for process in try ProcessEntry.carrying("POCKET_JOB=\(deaf.id)") {
        kill(process.pid, SIGKILL)
      }
      await next.settleIntents()
      #expect(try await world.store.intents().isEmpty)
      #expect(try await next.inspect(other.id).state == .running)
    }
  }

  @Test func clientsThatConnectAtOnceCarryEachCancelOutOnce() async throws {
    try await World.with { world in
      let client = world.client()
      var jobs: [JobID] = []
      for _ in 1...3 { jobs.append(try await client.start(.shell("sleep 300")).id) }
      let other = try await client.start(.shell("sleep 300"))
      await client.disconnect()
      for job in jobs { try await world.store.addIntent(.cancel, for: job) }
      let begun = Locked<[JobID]>([])
      let ended = Locked<[JobID: Bool]>([:])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...4 {
          let store = try await world.otherStore()
          group.addTask {
            let client = world.client(
              of: store,
              onIntent: { event in
                switch event {
                case .began(let intent, _): begun.withLock { $0.append(intent.job) }
                case .cancelled(let intent, _, .success(let report)):
                  ended.withLock { $0[intent.job] = report.wasOver }
                case .cancelled(_, _, .failure(let error)): Issue.record(error)
                case .cancelling: break
                }
              })
            _ = try await client.inspect(other.id)
            await client.settleIntents()
          }
        }
        try await group.waitForAll()
      }
      #expect(begun.withLock { $0.map(\.description).sorted() } == jobs.map(\.description).sorted())
      #expect(ended.withLock { $0 } == Dictionary(uniqueKeysWithValues: jobs.map { ($0, false) }))
      #expect(try await world.store.intents().isEmpty)
      for job in jobs { #expect(try ProcessEntry.carrying("POCKET_JOB=\(job)").isEmpty) }
    }
  }

  @Test func twoWhoCancelAtOnceBothHearTheEnd() async throws {
    try await World.with { world in
      let job = try await world.client().start(.shell("trap '' TERM; while :; do sleep 0.1; done"))
      let wish = CancelWish(grace: 1)
      let (first, second) = (world.client(), world.client(of: try await world.otherStore()))
      let queued = try await first.queueCancel(of: job.id, wish)
      let isWaiting = Locked(false)
      async let other = second.cancel(job.id, wish) { progress in
        if case .waiting = progress { isWaiting.withLock { $0 = true } }
      }
      try await waitUntil("the second one to wait") { isWaiting.withLock { $0 } }
      let report = try await first.cancel(queued)
      #expect(report.survivors.isEmpty && !report.wasOver)
      let otherReport = try await other
      #expect(otherReport.survivors.isEmpty && otherReport.wasOver)
      #expect(try await world.store.intents().isEmpty)
    }
  }

  @Test func aQueuedCancelOfAJobThatHasEndedSignalsNothing() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("setsid sleep 300 & exit 3"))
      _ = try await client.followToEnd(job.id)
      await client.disconnect()
      try await world.store.addIntent(.cancel, for: job.id)
      let told = Locked<CancelReport?>(nil)
      let next = world.client(
        of: world.store,
        onIntent: { event in
          if case .cancelled(_, _, .success(let report)) = event { told.withLock { $0 = report } }
        })
      _ = try await next.inspect(job.id)
      await next.settleIntents()
      let report = try #require(told.withLock { $0 })
      #expect(report.wasOver && report.leftovers.count == 1)
      #expect(try ProcessEntry.carrying("POCKET_JOB=\(job.id)").count == 1)
      #expect(try await world.store.job(job.id)?.state == .finished(.code(3)))
      #expect(try await world.store.intents().isEmpty)
    }
  }

  @Test func aWishThatCannotBeMetIsNotKept() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 300"))
      let started = world.jobFolder(job.id) + "/started"
      try writeFile(started, Array("pid=1\npgid=1\nsid=1\nend=1\n".utf8))
      do throws(JobError) {
        _ = try await client.cancel(job.id)
        Issue.record("it was carried out")
      } catch {
        guard case .hostFailed(_, .stranger, _) = error else {
          Issue.record("\(error)")
          return
        }
      }
      #expect(try await world.store.intents().isEmpty)
    }
  }
}
