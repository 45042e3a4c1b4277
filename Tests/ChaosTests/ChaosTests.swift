import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A workload of many jobs, and random faults in everything that it needs (design.md, invariants 1 to
/// 7). `make chaos` runs a thousand of them; `POCKET_CHAOS_SEED` repeats a run's choices, though not
/// its moments.
@Suite struct ChaosTests {
  @Test func nothingIsLostDoubledOrStartedTwice() async throws {
    let faults = number("POCKET_CHAOS_FAULTS").map { Int($0) } ?? 60
    let seed = number("POCKET_CHAOS_SEED") ?? .random(in: 1...999_999)
    print("chaos: seed \(seed), \(faults) faults")
    // In fifths of a second: a longer run has longer jobs too.
    let workload = Workload(longest: faults > 100 ? 150 : 60)
    try await ChaosWorld.with { world in
      let driver = try await ChaosDriver(world, seed: seed, faults: faults, workload: workload)
      try await driver.run()
      print("chaos: seed \(seed): \(await driver.summary)")
    }
  }

  private func number(_ variable: String) -> UInt64? {
    getenv(variable).flatMap { UInt64(String(cString: $0)) }
  }
}
