import JobModel
import JobStore
import PocketKit
import SSHClient
import TestSupport
import Testing

/// The link is cut while a launch is under way, at every interesting byte, and the client tries
/// again: the command runs exactly once, wherever the cut was.
@Suite struct CutLinkTests {
  /// Where a launch is cut.
  private struct Cut: Sendable, CustomStringConvertible {
    var direction: FaultProxy.Direction
    var afterBytes: Int
    var description: String { "\(direction) after \(afterBytes) bytes" }
  }

  private static let lanes = 3

  @Test func aLaunchThatIsCutAnywhereRunsTheCommandOnce() async throws {
    try await World.with { world in
      let cuts = try await Self.plan(in: world)
      print("cutting a launch at \(cuts.count) places")
      try await withThrowingTaskGroup { group in
        for lane in 0..<Self.lanes {
          group.addTask {
            for index in stride(from: lane, to: cuts.count, by: Self.lanes) {
              try await Self.launch(cutting: cuts[index], lane: index, in: world)
            }
          }
        }
        try await group.waitForAll()
      }
      let jobs = try await world.store.jobs()
      for job in jobs {
        let runs = world.server.remoteHome + "/runs.\(job.id)"
        try await waitUntil("the run of \(job.id) (\(job.title))") { fileExists(runs) }
      }
      // A second run of the last job would need this long to show itself.
      try await Task.sleep(for: .seconds(3))
      for job in jobs {
        let runs = try readText(world.server.remoteHome + "/runs.\(job.id)")
        #expect(runs == "run\n", "\(job.title) ran \(runs.count / 4) times")
      }
      #expect(jobs.count >= cuts.count)
    }
  }

  /// Every byte of the first 64 after authentication, every 97th after them, and each message
  /// boundary; in a full sweep every byte.
  private static func plan(in world: World) async throws -> [Cut] {
    let proxy = try FaultProxy(server: world.server.port)
    defer { proxy.stop() }
    try world.server.addHost("measured", port: proxy.port)
    let client = world.client { if $0 == .authenticated { proxy.arm() } }
    let job = try await client.create(request("measured"), on: "measured")
    #expect(try await client.launch(job.id) == .running)
    let isFull = isFullSweep
    return FaultProxy.Direction.allCases.flatMap { direction in
      let total = proxy.bytesSinceArmed(direction)
      let boundaries = proxy.boundaries(direction).filter { $0 < total }
      let places = Set(
        (0..<total).filter { isFull || $0 < 64 || $0 % 97 == 0 } + boundaries)
      return places.sorted().map { Cut(direction: direction, afterBytes: $0) }
    }
  }

  private static func request(_ title: String) -> JobRequest {
    .shell("echo run >> ~/runs.$POCKET_JOB # \(title)")
  }

  private static func launch(cutting cut: Cut, lane: Int, in world: World) async throws {
    // Two lines of the host may come in one message or in two, so that the exchange is not always
    // equally long; a cut beyond its end is tried again.
    for attempt in 1...8 {
      let proxy = try FaultProxy(server: world.server.port)
      defer { proxy.stop() }
      let alias = "cut\(lane).\(attempt)"
      try world.server.addHost(alias, port: proxy.port)
      proxy.cut(cut.direction, afterBytes: cut.afterBytes)
      let client = world.client { if $0 == .authenticated { proxy.arm() } }
      let job = try await client.create(request("\(cut)"), on: alias)
      let state = try await client.launch(job.id)
      #expect(state == .running, "\(cut): \(state)")
      await client.disconnect()
      if proxy.didCut { return }
    }
    Issue.record("\(cut): the cut did not happen")
  }
}
