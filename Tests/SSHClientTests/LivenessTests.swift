import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct LivenessTests {
    private let start = ContinuousClock.now

    @Test func nothingIsSentWhileBytesCome() {
      var liveness = Liveness()
      let step = liveness.step(now: start + .seconds(1), lastReceived: start)
      #expect(step == .wait(until: start + .seconds(2)))
    }

    @Test func silenceIsProbedEveryTwoSecondsAndEndsAfterEight() {
      var liveness = Liveness()
      for second in [2, 4, 6] {
        let now = start + .seconds(second)
        #expect(liveness.step(now: now, lastReceived: start) == .probe)
        liveness.probed(at: now)
        #expect(
          liveness.step(now: now, lastReceived: start) == .wait(until: now + .seconds(2)))
      }
      #expect(
        liveness.step(now: start + .seconds(8), lastReceived: start)
          == .dead(silence: .seconds(8)))
    }

    @Test func anyByteAfterTheProbeIsAnAnswer() {
      var liveness = Liveness()
      liveness.probed(at: start)
      let answer = start + .milliseconds(50)
      #expect(
        liveness.step(now: start + .seconds(1), lastReceived: answer)
          == .wait(until: answer + .seconds(2)))
      #expect(liveness.step(now: start + .seconds(7), lastReceived: answer) == .probe)
    }

    @Test func aProbeThatWasNeverSentProvesNothing() {
      var liveness = Liveness()
      #expect(liveness.step(now: start + .seconds(3600), lastReceived: start) == .probe)
      #expect(liveness.step(now: start + .seconds(7200), lastReceived: start) == .probe)
    }

    /// ssh_config(5), ServerAliveInterval and ServerAliveCountMax.
    @Test func theConfigurationMakesThePatienceShorterNeverLonger() {
      for (interval, count, probe, patience) in [
        (1, 2, 1, 2), (1, 3, 1, 3), (60, 3, 2, 6), (3, 1, 2, 3), (1, 0, 1, 6),
      ] {
        let liveness = Liveness(aliveInterval: .seconds(interval), aliveCount: count)
        #expect(liveness.probeInterval == .seconds(probe))
        #expect(liveness.patience == .seconds(patience))
      }
      // Whatever carries it gives up first.
      #expect(Liveness(hops: 1).patience > Liveness().patience)
      #expect(Liveness(hops: 2).patience > Liveness(hops: 1).patience)
      #expect(Liveness(hops: 16).patience < .seconds(8))
    }
  }
}
