import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(
  .enabled(if: system("command -v faketime >/dev/null") == 0, "faketime is not installed"))
struct ShiftedClockTests {
  @Test func aCommandSeesAnotherTimeAndSleepsAsLongAsEver() async throws {
    let now = Int(time(nil))
    let start = ContinuousClock.now
    let text = try await Command("sh", ["-c", "date +%s; sleep 0.3; date +%s"])
      .withClock(shifted: "-2d").succeed()
    let seen = text.split(separator: "\n").compactMap { Int($0) }
    #expect(start.duration(to: .now) > .milliseconds(300))
    try #require(seen.count == 2)
    for time in seen { #expect(abs(now - 2 * 86_400 - time) < 60) }
  }
}
