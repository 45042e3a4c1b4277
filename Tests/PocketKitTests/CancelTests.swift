import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

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
      let report = try await client.cancel(job.id, grace: 2)
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
      let ending = try await client.cancel(job.id, leftovers: .end)
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

  @Test func aCancelWithoutTheHostIsKeptAndCarriedOutAtTheNextContact() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 300"))
      let other = try await client.start(.shell("echo other"))
      await client.disconnect()
      try await world.server.stopListening()
      let away = world.client()
      await #expect(throws: JobError.self) { try await away.cancel(job.id) }
      #expect(try await world.store.intents(for: "dev1").map(\.job) == [job.id])
      try await world.server.startListening()
      _ = try await world.client().followToEnd(other.id)
      try await waitUntil("the end of the cancelled job") {
        try ProcessEntry.carrying("POCKET_JOB=\(job.id)").filter(\.isAlive).isEmpty
      }
      #expect(try await world.store.intents(for: "dev1").isEmpty)
    }
  }
}
