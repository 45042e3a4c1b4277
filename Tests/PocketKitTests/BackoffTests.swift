import SSHClient
import Testing

@testable import PocketKit

@Suite struct BackoffTests {
  @Test func theWaitDoublesToAQuarterOfAMinuteAndVaries() {
    var seen: Set<Duration> = []
    for _ in 0..<50 {
      var backoff = Backoff()
      var bound = 250
      for _ in 0..<10 {
        let wait = backoff.wait(after: nil)
        #expect(wait >= .milliseconds(bound / 2 - 1) && wait <= .milliseconds(bound))
        seen.insert(wait)
        bound = min(bound * 2, 15_000)
      }
    }
    #expect(seen.count > 100, "two clients that lost a host together come back together")
  }

  @Test func anAttemptThatWorkedBeginsAnew() {
    var backoff = Backoff()
    for _ in 0..<10 { _ = backoff.wait(after: nil) }
    backoff.reset()
    #expect(backoff.wait(after: nil) <= .milliseconds(250))
  }

  /// What is full has room again soon, and a link that is frozen tells of no penalty.
  @Test(arguments: [SSHError.Kind.busy, .timedOut])
  func aServerThatDoesNotHangUpIsTriedAgainSoon(_ kind: SSHError.Kind) {
    var backoff = Backoff()
    let error = SSHError(.banner, kind, host: "dev1", "no banner")
    #expect(backoff.wait(after: error) <= .milliseconds(250))
  }

  /// sshd_config(5), PerSourcePenalties.
  @Test func aServerThatHangsUpBeforeItsBannerIsLeftAloneFor15Seconds() {
    var backoff = Backoff()
    let error = SSHError(.banner, .unreachable, host: "dev1", "no banner")
    #expect(backoff.wait(after: error) >= .seconds(15))
  }
}
