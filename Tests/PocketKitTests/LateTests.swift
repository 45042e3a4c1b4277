import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

/// What a job writes after its end.
@Suite struct LateTests {
  /// A job whose output grows after its end, when the test appends to its files.
  private func endedJob(in world: World) async throws -> Job {
    let client = world.client()
    let job = try await client.start(.shell("printf 'main\\n'; printf tail; echo e >&2"))
    #expect(try await client.followToEnd(job.id).state == .finished(.code(0)))
    return job
  }

  private func late(_ id: JobID, _ stream: JobStream, in world: World) async throws -> [UInt8] {
    try await world.store.lateBytes(of: id, stream, from: .zero, limitBytes: .max)
      .flatMap(\.bytes)
  }

  @Test func lateOutputIsTakenInOnRequestOnceAndBesideTheOutput() async throws {
    try await World.with { world in
      let job = try await endedJob(in: world)
      let folder = world.jobFolder(job.id)
      let big = (0..<90_000).flatMap { Array("\($0) 늦은 줄\n".utf8) }
      try appendToFile(folder + "/out.jsonl", big)
      let client = world.client()
      _ = try await client.inspect(job.id)
      #expect(try await world.store.job(job.id)?.lateOut == Int64(big.count))
      #expect(try await client.takeInLate(job.id) == [.out: big.count])
      #expect(try await client.takeInLate(job.id) == [:])
      try appendToFile(folder + "/out.jsonl", Array("more".utf8))
      try appendToFile(folder + "/err.log", Array("oops\n".utf8))
      #expect(try await client.takeInLate(job.id) == [.out: 4, .err: 5])
      expectSame(
        try await late(job.id, .out, in: world), big + Array("more".utf8), "late output")
      #expect(try await late(job.id, .err, in: world) == Array("oops\n".utf8))
      // The output itself is what it was.
      expectSame(try await world.stored(job.id, .out), Array("main\ntail".utf8), "out")
      let stored = try #require(try await world.store.job(job.id))
      #expect(stored.lateOut == Int64(big.count) + 4 && stored.lateOutTaken == stored.lateOut)
      #expect(stored.lateErr == 5 && stored.lateErrTaken == 5)
      let verification = try await client.verify(job.id)
      #expect(verification.isEqual)
      #expect(verification.streams.map(\.lateBytesTaken) == [big.count + 4, 5])
    }
  }

  @Test func aFileThatWasRewrittenSinceGivesNoLateOutput() async throws {
    try await World.with { world in
      let job = try await endedJob(in: world)
      let file = world.jobFolder(job.id) + "/out.jsonl"
      try appendToFile(file, Array(" and late".utf8))
      let client = world.client()
      #expect(try await client.takeInLate(job.id) == [.out: 9])
      for content in ["short", "something else, which is longer than what was there before"] {
        try writeFile(file, Array(content.utf8))
        do {
          _ = try await client.takeInLate(job.id)
          Issue.record("it was taken in: \(content)")
        } catch JobError.protocolBroken(_, let words) {
          #expect(words.contains("after the job's end"), "\(words)")
        }
        #expect(try await late(job.id, .out, in: world) == Array(" and late".utf8))
      }
    }
  }

  @Test func ofTwoClientsOneTakesEachByteIn() async throws {
    try await World.with { world in
      let job = try await endedJob(in: world)
      let file = world.jobFolder(job.id) + "/out.jsonl"
      let big = [UInt8](repeating: 0x61, count: 3_000_000)
      try appendToFile(file, big)
      let other = world.client(of: try await world.otherStore())
      async let first = await Result { try await world.client().takeInLate(job.id) }
      async let second = await Result { try await other.takeInLate(job.id) }
      let taken = await [first, second].compactMap { try? $0.get()[.out] }.reduce(0, +)
      #expect(taken <= big.count)
      _ = try await other.takeInLate(job.id)
      expectSame(try await late(job.id, .out, in: world), big, "late output")
    }
  }

  @Test func aJobThatHasNotEndedHasNone() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 1000"))
      await #expect(throws: JobError.self) { try await client.takeInLate(job.id) }
      #expect(
        try await world.store.commitLate([1], to: job.id, .out, at: .zero) == false)
    }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
