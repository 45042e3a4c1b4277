import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

/// The main job over a real sshd: start, follow, end.
@Suite struct JobTests {
  @Test func outputOfBothStreamsAndTheExitCodeArrive() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(
        .shell("printf '안녕\\n'; echo no >&2; printf tail; exit 7"))
      let (state, _) = try await client.followToEnd(job.id)
      #expect(state == .finished(.code(7)))
      expectSame(try await world.stored(job.id, .out), Array("안녕\ntail".utf8), "out")
      expectSame(try await world.stored(job.id, .err), Array("no\n".utf8), "err")
      #expect(try await world.store.job(job.id)?.proved == true)
    }
  }

  @Test func aSignalIsToldFromItsNumberAsAnExitCode() async throws {
    try await World.with { world in
      let client = world.client()
      let killed = try await client.start(.shell("kill -9 $$"))
      let pretending = try await client.start(.shell("exit 137"))
      #expect(try await client.followToEnd(killed.id).state == .finished(.signal(9)))
      #expect(try await client.followToEnd(pretending.id).state == .finished(.code(137)))
    }
  }

  @Test func thePromptReachesStdinByteForByte() async throws {
    try await World.with { world in
      let prompt = "'; touch never #`id`$(id)\n" + String(repeating: "한글🎉\\", count: 150_000)
      let client = world.client()
      let job = try await client.start(.shell("cat", prompt: prompt))
      #expect(try await client.followToEnd(job.id).state == .finished(.code(0)))
      expectSame(try await world.stored(job.id, .out), Array(prompt.utf8), "prompt")
    }
  }

  @Test func aLaunchThatWasGivenUpInTimeLeavesNothing() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.create(.shell("true"), on: "dev1")
      let gate = LaunchGate()
      #expect(await gate.close())
      do {
        _ = try await client.launch(job.id, isNew: true, gate: gate)
        Issue.record("it was launched")
      } catch {
        guard case JobError.cancelled = error else { throw error }
      }
      #expect(!fileExists(world.jobFolder(job.id)))
      try await client.noteGivenUp(job.id)
      #expect(try await world.store.job(job.id)?.state.isEnded == true)

      let later = LaunchGate()
      let other = try await client.create(.shell("true"), on: "dev1")
      #expect(try await client.launch(other.id, isNew: true, gate: later) == .running)
      #expect(await !later.close())
    }
  }

  @Test func aSecretReachesTheJobAndNothingElse() async throws {
    try await World.with { world in
      let client = world.client()
      var request = JobRequest.shell("printf %s \"$TOKEN\"")
      request.environmentNames = ["TOKEN"]
      let job = try await client.create(request, on: "dev1")
      let secret = "s3cret '\"\n한"
      #expect(
        try await client.launch(job.id, secrets: [("TOKEN", Array(secret.utf8))]) == .running)
      _ = try await client.followToEnd(job.id)
      expectSame(try await world.stored(job.id, .out), Array(secret.utf8), "secret")
      for name in namesInFolder(world.jobFolder(job.id)) where name != "out.jsonl" {
        let text = String(
          decoding: try readFile(world.jobFolder(job.id) + "/" + name), as: UTF8.self)
        #expect(!text.contains("s3cret"), "\(name) holds the secret")
      }
    }
  }

  @Test func aProgramThatIsNotThereNeverStarts() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.create(
        JobRequest(arguments: [Array("no-such-program".utf8)]), on: "dev1")
      guard case .neverStarted(.refused(.program, let words)) = try await client.launch(job.id)
      else {
        Issue.record("it was not refused")
        return
      }
      #expect(words.contains("no-such-program") && words.contains("/usr/bin"))
    }
  }

  @Test func launchingTwiceStartsOnce() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("echo once >> ~/runs; sleep 0.3"))
      let other = world.client()
      #expect(try await other.launch(job.id) == .running)
      _ = try await client.followToEnd(job.id)
      #expect(try await client.launch(job.id) == .running)
      #expect(try readText(world.server.remoteHome + "/runs") == "once\n")
    }
  }

  @Test func anUnconfirmedJobIsStartedByFollowingIt() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.create(.shell("echo started"), on: "dev1")
      #expect(try await client.followToEnd(job.id).state == .finished(.code(0)))
      expectSame(try await world.stored(job.id, .out), Array("started\n".utf8), "out")
    }
  }

  @Test func twoFollowersStoreEveryByteOnce() async throws {
    try await World.with { world in
      let job = try await world.client().start(
        .shell(
          "i=0; while [ $i -lt 300 ]; do echo line $i; echo e$i >&2; i=$((i+1)); sleep 0.01; done"))
      let second = world.client(of: try await world.otherStore())
      async let one = world.client().followToEnd(job.id)
      async let two = second.followToEnd(job.id)
      #expect(try await one.state == .finished(.code(0)))
      #expect(try await two.state == .finished(.code(0)))
      for stream in JobStream.allCases {
        expectSame(
          try await world.stored(job.id, stream), try world.hostFile(job.id, stream),
          stream.rawValue)
      }
    }
  }

  @Test func aTruncatedFileIsAGapAndNeverWrongBytes() async throws {
    try await World.with { world in
      let client = world.client()
      // It truncates its own file once the first line has been read.
      let job = try await client.start(
        .shell("echo before; until [ -e ~/go ]; do sleep 0.1; done; echo end > /dev/stdout"))
      async let following = client.followToEnd(job.id)
      try await waitUntil("the first line in the store") {
        try await world.store.position(of: job.id, .out).offset > .zero
      }
      try writeFile(world.server.remoteHome + "/go", [])
      let (state, events) = try await following
      #expect(state == .finished(.code(0)))
      #expect(events.contains { if case .gap(.out, _, _) = $0 { true } else { false } })
      expectSame(
        try await world.stored(job.id, .out), try world.hostFile(job.id, .out), "the new generation"
      )
      #expect(try await world.store.position(of: job.id, .out).generation == 1)
      let verification = try await client.verify(job.id)
      #expect(verification.isEqual && verification.hasGaps)
    }
  }

  @Test func verifySeesAChangedByte() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("echo abc; echo def >&2"))
      _ = try await client.followToEnd(job.id)
      #expect(try await client.verify(job.id).isEqual)
      try writeFile(world.jobFolder(job.id) + "/err.log", Array("dex\n".utf8))
      let verification = try await client.verify(job.id)
      #expect(!verification.isEqual)
      #expect(verification.streams.map(\.isEqual) == [true, false])
    }
  }

  @Test func removingLeavesNothing() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 30"))
      await #expect(throws: JobError.self) { try await client.remove(job.id) }
      _ = try await client.cancel(job.id)
      _ = try await client.followToEnd(job.id)
      try await client.remove(job.id)
      #expect(!fileExists(world.jobFolder(job.id)))
      #expect(try await world.store.job(job.id) == nil)
    }
  }
}
