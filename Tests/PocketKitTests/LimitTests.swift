import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

/// Limits that the host holds a job to.
@Suite struct LimitTests {
  @Test func aJobThatTakesTooLongIsEndedWhileNobodyIsConnected() async throws {
    try await World.with { world in
      var request = JobRequest.shell("trap '' TERM; setsid sleep 300 & while :; do sleep 1; done")
      request.limits.timeout = 2
      let client = world.client()
      let job = try await client.start(request)
      await client.disconnect()
      try await waitUntil("the exit record") {
        try readText(world.jobFolder(job.id) + "/exit").contains(" end")
      }
      try await waitUntil("the end of all that it started") {
        try ProcessEntry.carrying("POCKET_JOB=\(job.id)").filter(\.isAlive).isEmpty
      }
      #expect(try await client.followToEnd(job.id).state == .finished(.signal(9)))
      let known = try #require(await world.store.job(job.id))
      #expect(known.exit?.limit == .timeout && known.exit?.cappedStreams == [] && known.proved)
    }
  }

  @Test func aFollowerSeesTheMarkerLast() async throws {
    try await World.with { world in
      var request = JobRequest.shell("while :; do printf '%01000d\\n' 1; sleep 0.01; done")
      request.limits.maxOutput = 100_000
      let client = world.client()
      let job = try await client.start(request)
      let (_, events) = try await client.followToEnd(job.id)
      let known = try #require(await world.store.job(job.id))
      #expect(known.exit?.limit == .output && known.exit?.cappedStreams == [.out] && known.proved)
      let stored = try await world.stored(job.id, .out)
      // What was written behind the marker may not be cut off yet.
      expectSame(stored, Array(try world.hostFile(job.id, .out).prefix(stored.count)), "out")
      let last = stored.split(separator: 0x0A).last.map { String(decoding: $0, as: UTF8.self) }
      #expect(last == #"{"pocket":"output-limit","stream":"out","limit":100000,"then":"stop"}"#)
      #expect(!events.contains { if case .late = $0 { true } else { false } })
      #expect(try await client.verify(job.id).isEqual)
    }
  }

  @Test func aJobGoesOnWhileItsOutputIsDiscarded() async throws {
    try await World.with { world in
      var request = JobRequest.shell(
        "until [ -e ~/go ]; do printf '%01000d\\n' 1; sleep 0.01; done; echo done >&2; exit 4")
      request.limits = JobLimits(maxOutput: 100_000, onMaxOutput: .discard)
      let client = world.client()
      let job = try await client.start(request)
      async let following = client.followToEnd(job.id)
      try await waitUntil("the end of its output") {
        fileExists(world.jobFolder(job.id) + "/capped.out")
      }
      try writeFile(world.server.remoteHome + "/go", [])
      #expect(try await following.state == .finished(.code(4)))
      let exit = try #require(await world.store.job(job.id)?.exit)
      #expect(exit.limit == nil && exit.cappedStreams == [.out])
      expectSame(try await world.stored(job.id, .err), Array("done\n".utf8), "err")
      let verification = try await client.verify(job.id)
      #expect(verification.isEqual && verification.streams.allSatisfy { $0.lateBytes == 0 })
      // Another device reads the same.
      let store = try await JobStore(at: StoreLocation(path: world.folder["second.db"]))
      let second = world.client(of: store)
      _ = try await second.adopt(job.id, from: "dev1")
      #expect(try await second.followToEnd(job.id).state == .finished(.code(4)))
      expectSame(
        try await store.bytes(of: job.id, .out), try await world.stored(job.id, .out), "out")
    }
  }

  @Test func aJobWithinItsLimitsIsAsItWouldBeWithoutThem() async throws {
    try await World.with { world in
      var request = JobRequest.shell("echo one; echo two >&2; exit 137")
      request.limits = JobLimits(timeout: 3600, maxOutput: 100_000)
      let client = world.client()
      let job = try await client.start(request)
      #expect(try await client.followToEnd(job.id).state == .finished(.code(137)))
      let exit = try #require(await world.store.job(job.id)?.exit)
      #expect(exit.limit == nil && exit.cappedStreams.isEmpty)
      #expect(exit.outSize == ByteOffset(4) && exit.errSize == ByteOffset(4))
    }
  }
}
