import JobModel
import JobStore
import PocketKit
import TestSupport
import Testing

/// Jobs that another device started.
@Suite struct AdoptTests {
  @Test func aRunningJobIsFollowedFromItsFirstByteByTwoDevices() async throws {
    try await World.with { world in
      let first = world.client()
      var request = JobRequest.shell(
        "i=0; while [ $i -lt 50 ]; do echo $i; i=$((i+1)); done; until [ -e ~/go ]; do sleep 0.1; done; cat",
        prompt: String(repeating: "일이 많다\n", count: 10_000))
      request.name = "nightly"
      let job = try await first.start(request)
      async let following = first.followToEnd(job.id)
      try await waitUntil("the first lines in the store") {
        try await world.store.position(of: job.id, .out).offset > .zero
      }

      let store = try await world.newStore("second")
      let second = world.client(of: store)
      let listing = try await second.list(on: "dev1")
      #expect(listing.jobs.map(\.id) == [job.id] && listing.passedOver.isEmpty)
      #expect(listing.jobs.first?.request.name == "nightly")
      #expect(listing.jobs.first?.request.title == "일이 많다")
      #expect(listing.jobs.first?.state == .running)

      let adopted = try await second.adoptNew(job.id, from: "dev1")
      #expect(adopted.request == request && adopted.digest == job.digest)
      #expect(adopted.createdAt == job.createdAt && adopted.title == job.title)
      #expect(adopted.state == .running)
      let known = try #require(await world.store.job(job.id))
      #expect(
        (adopted.attempt, adopted.pid, adopted.pgid) == (known.attempt, known.pid, known.pgid))

      async let followingThere = second.followToEnd(job.id)
      try await waitUntil("the first lines in the other store") {
        try await store.position(of: job.id, .out).offset > .zero
      }
      try writeFile(world.server.remoteHome + "/go", [])
      #expect(try await following.state == .finished(.code(0)))
      #expect(try await followingThere.state == .finished(.code(0)))
      for stream in JobStream.allCases {
        let file = try world.hostFile(job.id, stream)
        expectSame(try await world.store.bytes(of: job.id, stream), file, "the first store")
        expectSame(try await store.bytes(of: job.id, stream), file, "the second store")
      }
      #expect(try await second.verify(job.id).isEqual)
    }
  }

  @Test func aFinishedJobIsTakenInWholeAndRemovedOnBothSides() async throws {
    try await World.with { world in
      let first = world.client()
      let job = try await first.start(.shell("echo one; echo two >&2; exit 3"))
      _ = try await first.followToEnd(job.id)
      let store = try await world.newStore("second")
      let second = world.client(of: store)
      let adopted = try await second.adoptNew(job.id, from: "dev1")
      #expect(adopted.state == .finished(.code(3)) && !adopted.proved && adopted.exit != nil)
      // Its output is not all here, whatever the other device has.
      await #expect(throws: JobError.self) { try await second.remove(job.id) }
      #expect(fileExists(world.jobFolder(job.id)))
      #expect(try await second.followToEnd(job.id).state == .finished(.code(3)))
      expectSame(try await store.bytes(of: job.id, .err), Array("two\n".utf8), "err")
      try await second.remove(job.id)
      #expect(!fileExists(world.jobFolder(job.id)))
      #expect(try await second.list(on: "dev1").jobs.isEmpty)
    }
  }

  @Test func anAdoptedJobIsCancelledFromHere() async throws {
    try await World.with { world in
      let job = try await world.client().start(.shell("sleep 300 & setsid sleep 300 & wait"))
      let second = world.client(of: try await world.newStore("second"))
      _ = try await second.adoptNew(job.id, from: "dev1")
      let report = try await second.cancel(job.id, CancelWish(grace: 2))
      #expect(report.survivors.isEmpty && !report.wasOver)
      #expect(try ProcessEntry.carrying("POCKET_JOB=\(job.id)").filter(\.isAlive).isEmpty)
    }
  }

  @Test func takingOverTwiceAndUnderAnotherAliasDoublesNothing() async throws {
    try await World.with { world in
      let job = try await world.client().start(.shell("true"))
      let store = try await world.newStore("second")
      let second = world.client(of: store)
      _ = try await second.adoptNew(job.id, from: "dev1")
      try world.server.addHost("same", port: world.server.port)
      for host in ["dev1", "same"] {
        guard case .known(let known) = try await second.adopt(job.id, from: host) else {
          Issue.record("it was taken over again from \(host)")
          return
        }
        #expect(known.host == "dev1")
      }
      #expect(try await store.jobs().count == 1)
    }
  }

  @Test func aNameThatIsTakenHereIsLeftOut() async throws {
    try await World.with { world in
      var request = JobRequest.shell("true")
      request.name = "nightly"
      let job = try await world.client().start(request)
      let store = try await world.newStore("second")
      let second = world.client(of: store)
      _ = try await second.create(request, on: "dev2")
      guard
        case .adopted(let adopted, nameTaken: "nightly") = try await second.adopt(
          job.id, from: "dev1")
      else {
        Issue.record("the taken name was not told")
        return
      }
      #expect(adopted.name == nil && adopted.digest == job.digest)
      #expect(try await second.followToEnd(job.id).state == .finished(.code(0)))
    }
  }

  @Test func whatIsNoWholeJobIsPassedOverAndSaysWhy() async throws {
    try await World.with { world in
      let first = world.client()
      let job = try await first.start(.shell("cat", prompt: "as it was sent"))
      _ = try await first.followToEnd(job.id)
      let jobs = "\(world.server.remoteHome)/.pocket/jobs"
      func copy(_ id: String, without file: String? = nil, with bytes: [UInt8]? = nil) async throws
      {
        _ = try await Command("cp", ["-a", "\(jobs)/\(job.id)", "\(jobs)/\(id)"]).succeed()
        guard let file else { return }
        _ = try await Command("rm", ["\(jobs)/\(id)/\(file)"]).succeed()
        if let bytes { try writeFile("\(jobs)/\(id)/\(file)", bytes) }
      }
      let request = try readText("\(jobs)/\(job.id)/request")
      let newer = request.split(separator: "\n").map { $0 == "v=1" ? "v=2" : $0 }
      try await copy("notes")
      try await copy("aaaaaaaaaaa1", without: "started")
      try await copy("aaaaaaaaaaa2", without: "request")
      try await copy("aaaaaaaaaaa3", without: "request", with: Array(request.utf8.dropLast(3)))
      try await copy(
        "aaaaaaaaaaa4", without: "request",
        with: Array((newer.joined(separator: "\n") + "\n").utf8))
      try await copy("aaaaaaaaaaa5", without: "prompt", with: Array("another".utf8))
      let second = world.client(of: try await world.newStore("second"))
      let listing = try await second.list(on: "dev1")
      // Who has not asked for the whole prompt cannot know that it is another one.
      #expect(Set(listing.jobs.map(\.id.description)) == [job.id.description, "aaaaaaaaaaa5"])
      let reasons = Dictionary(
        uniqueKeysWithValues: listing.passedOver.map { ($0.directory, $0.reason) })
      #expect(
        reasons == [
          "notes": .name, "aaaaaaaaaaa1": .halfWritten, "aaaaaaaaaaa2": .halfWritten,
          "aaaaaaaaaaa3": .torn, "aaaaaaaaaaa4": .version("2"),
        ])
      let expected: [(String, PassedOver.Reason)] = [
        ("aaaaaaaaaaa1", .halfWritten), ("aaaaaaaaaaa3", .torn), ("aaaaaaaaaaa4", .version("2")),
        ("aaaaaaaaaaa5", .digest),
      ]
      for (id, expected) in expected {
        let id = try #require(JobID(id))
        do {
          _ = try await second.adopt(id, from: "dev1")
          Issue.record("\(id) was taken over")
        } catch {
          guard case JobError.notAdoptable(id, host: "dev1", expected) = error else { throw error }
        }
      }
      _ = try await second.adoptNew(job.id, from: "dev1")
    }
  }
}

extension JobClient {
  /// Takes a job over that must not be known yet, nor its name taken.
  fileprivate func adoptNew(_ id: JobID, from host: String) async throws -> Job {
    guard case .adopted(let job, nameTaken: nil) = try await adopt(id, from: host) else {
      throw WasKnown()
    }
    return job
  }
}

private struct WasKnown: Error {}

extension World {
  /// An empty store of its own, as another device has one.
  fileprivate func newStore(_ name: String) async throws -> JobStore {
    try await JobStore(at: StoreLocation(path: folder["\(name).db"]))
  }
}
