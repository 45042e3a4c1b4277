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

/// The link fails while a job is followed.
@Suite struct BrokenLinkTests {
  /// Prints on both streams until the file `~/enough` is there.
  private static let talker = JobRequest.shell(
    "i=0; until [ -e ~/enough ]; do echo \"줄 $i\"; echo \"오류 $i\" >&2; i=$((i+1)); sleep 0.02; done"
  )

  @Test func aFrozenLinkIsNoticedAndNothingIsLostOrDoubled() async throws {
    try await World.with { world in
      let proxy = try FaultProxy(server: world.server.port)
      defer { proxy.stop() }
      try world.server.addHost("frozen", port: proxy.port)
      let client = world.client()
      let job = try await client.start(Self.talker, on: "frozen")
      let end = try await follow(job, client, in: world) { events in
        let before = try await world.store.position(of: job.id, .out).offset
        proxy.freeze()
        let start = ContinuousClock.now
        try await waitUntil("the client noticed", deadline: .seconds(20)) {
          events.withLock { $0.contains { if case .disconnected = $0 { true } else { false } } }
        }
        let noticed = ContinuousClock.now - start
        #expect(noticed < .seconds(12), "noticed after \(noticed)")
        try await waitUntil("more bytes over a new connection") {
          try await world.store.position(of: job.id, .out).offset > before + 1000
        }
      }
      #expect(end == .finished(.code(0)))
    }
  }

  @Test func aKilledServerProcessIsALostLinkAndNeverAnEnd() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(Self.talker)
      let end = try await follow(job, client, in: world) { events in
        for round in 1...3 {
          for pid in try world.server.connections() { kill(pid, SIGKILL) }
          try await waitUntil("the client noticed kill \(round)") {
            events.withLock { $0.count { if case .disconnected = $0 { true } else { false } } }
              >= round
          }
          let before = try await world.store.position(of: job.id, .out).offset
          try await waitUntil("the client came back after kill \(round)") {
            try await world.store.position(of: job.id, .out).offset > before + 200
          }
        }
      }
      #expect(end == .finished(.code(0)))
    }
  }

  /// Follows the job, does `faults` once bytes flow, lets the job end, and compares all bytes.
  private func follow(
    _ job: Job, _ client: JobClient, in world: World,
    _ faults: (Locked<[JobEvent]>) async throws -> Void
  ) async throws -> JobState {
    let seen = Locked<[JobEvent]>([])
    async let end = {
      for try await event in client.follow(job.id) {
        seen.withLock { $0.append(event) }
        if case .ended(let state) = event { return state }
      }
      throw FollowHadNoEnd()
    }()
    try await waitUntil("bytes in the store") {
      try await world.store.position(of: job.id, .out).offset > ByteOffset(200)
    }
    try await faults(seen)
    try writeFile(world.server.remoteHome + "/enough", [])
    let state = try await end
    for stream in JobStream.allCases {
      expectSame(
        try await world.stored(job.id, stream), try world.hostFile(job.id, stream),
        stream.rawValue)
    }
    return state
  }
}
