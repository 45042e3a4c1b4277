import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct CancelTests {
  @Test func theWholeTreeIsProvedDead() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(
        .shell(
          "sleep 300 & setsid sleep 301 & (setsid sh -c 'trap : TERM; while :; do sleep 1; done' &); wait"
        ))
      let cookie = "POCKET_JOB=\(job.id)"
      try await waitUntil("four processes of the job") {
        try ProcessEntry.carrying(cookie).filter(\.isAlive).count >= 4
      }
      let report = try await client.cancel(job.id, CancelWish(grace: 2))
      #expect(report.survivors.isEmpty && !report.wasOver)
      #expect(try ProcessEntry.carrying(cookie).filter(\.isAlive).isEmpty)
      guard case .cancelled(.some) = report.state else {
        Issue.record("the state is \(report.state)")
        return
      }
      let again = try await client.cancel(job.id)
      #expect(again.wasOver && again.leftovers.isEmpty)
      guard case .cancelled(.some) = try await client.followToEnd(job.id).state else {
        Issue.record("following it did not give the cancelled state")
        return
      }
    }
  }

  @Test func whatAFinishedJobLeftRunningIsListedAndEndedOnlyOnRequest() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("setsid sleep 300 & sleep 0.1"))
      _ = try await client.followToEnd(job.id)
      let report = try await client.cancel(job.id)
      #expect(report.wasOver && report.leftovers.count == 1)
      #expect(try ProcessEntry.carrying("POCKET_JOB=\(job.id)").filter(\.isAlive).count == 1)
      let ending = try await client.cancel(job.id, CancelWish(leftovers: .end))
      #expect(ending.leftovers.isEmpty)
      #expect(try await world.store.job(job.id)?.state == .finished(.code(0)))
    }
  }

  @Test func aCancelBeforeTheStartWins() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.create(.shell("echo never >> ~/runs"), on: "dev1")
      #expect(try await client.cancel(job.id).state == .cancelled(nil))
      #expect(try await client.launch(job.id) == .cancelled(nil))
      #expect(!fileExists(world.server.remoteHome + "/runs"))
    }
  }

  @Test func whatIsOutsideTheGroupIsToldBeforeAnySignalAndMayBeLeftAlone() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("setsid sleep 300 & wait"))
      let cookie = "POCKET_JOB=\(job.id)"
      let group = Int32(try #require(await world.store.job(job.id)?.pgid))
      var outside: [ProcessEntry] = []
      try await waitUntil("the one outside the group") {
        outside = try ProcessEntry.carrying(cookie).filter { $0.arguments.first == "sleep" }
        return outside.count == 1 && outside[0].group != group
      }
      let told = Locked<[String]>([])
      let report = try await client.cancel(job.id, CancelWish(reach: .group)) { progress in
        switch progress {
        case .beyond(let processes):
          told.withLock { $0.append("beyond \(processes.map(\.command))") }
        case .step(let step): told.withLock { $0.append(step) }
        case .waiting: break
        }
      }
      #expect(told.withLock { $0.first } == "beyond [\"sleep 300\"]", "\(told.withLock { $0 })")
      #expect(report.survivors.isEmpty && !report.wasOver)
      #expect(report.leftovers.map(\.pid) == outside.map { Int($0.pid) })
      #expect(try ProcessEntry.carrying(cookie).map(\.pid) == outside.map(\.pid))
      guard case .cancelled(.some) = report.state else {
        Issue.record("the state is \(report.state)")
        return
      }
    }
  }

  @Test func aCancelThatWaitsForALaunchGoesAheadOfIt() async throws {
    try await World.with { world in
      let first = world.client()
      let deaf = try await first.start(.shell("trap '' TERM; while :; do sleep 0.1; done"))
      let job = try await first.create(.shell("echo never >> ~/runs"), on: "dev1")
      await first.disconnect()
      let patient = CancelWish(grace: 3600)
      try await world.store.addIntent(.cancel, for: deaf.id, wish: patient.description)
      try await world.store.addIntent(.cancel, for: job.id)
      let client = world.client()
      #expect(try await client.launch(job.id) == .cancelled(nil))
      #expect(!fileExists(world.server.remoteHome + "/runs"))
      // The drain, which takes the oldest first, is still busy with that one.
      #expect(try await world.store.intents().map(\.job) == [deaf.id])
      for process in try ProcessEntry.carrying("POCKET_JOB=\(deaf.id)") {
        kill(process.pid, SIGKILL)
      }
      await client.settleIntents()
    }
  }
}
