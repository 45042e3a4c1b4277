/// Decides from silence whether a link is dead. TCP itself takes a quarter of an hour to notice,
/// and not everywhere can that be changed.
///
/// After 2 s without a byte a probe goes out, and again every 2 s; a probe that stays without any
/// byte in answer for 6 s proves the link dead: 8 s of silence in all. It is the probe's age that
/// counts, so that a process that was stopped does not take its own pause for the server's.
struct Liveness: Sendable {
  let probeInterval: Duration
  let patience: Duration

  private var firstUnanswered: ContinuousClock.Instant?
  private var lastProbe: ContinuousClock.Instant?

  /// - Parameters:
  ///   - aliveInterval: ssh_config(5), ServerAliveInterval; it and `aliveCount` can make the times
  ///     shorter, never longer: a user who set 60 s did not wish to wait for three minutes here.
  ///   - aliveCount: ServerAliveCountMax; 0 is for never, and leaves the times as they are.
  ///   - hops: how many connections carry this one. Each waits a little longer than the one below
  ///     it, so that the hop whose link died is the one that says so.
  init(aliveInterval: Duration? = nil, aliveCount: Int = 3, hops: Int = 0) {
    probeInterval = min(.seconds(2), aliveInterval ?? .seconds(2))
    let limit = Duration.seconds(6)
    let wish = aliveCount > 0 ? aliveInterval.map { $0 * aliveCount } : nil
    patience = min(limit, wish ?? limit) + .milliseconds(400) * min(hops, 4)
  }

  enum Step: Equatable {
    case wait(until: ContinuousClock.Instant)
    case probe
    case dead(silence: Duration)
  }

  mutating func step(
    now: ContinuousClock.Instant, lastReceived: ContinuousClock.Instant
  ) -> Step {
    if let first = firstUnanswered, lastReceived >= first {
      (firstUnanswered, lastProbe) = (nil, nil)
    }
    if let first = firstUnanswered, now - first >= patience {
      return .dead(silence: now - lastReceived)
    }
    let next = max(lastReceived, lastProbe ?? lastReceived) + probeInterval
    if now >= next { return .probe }
    return .wait(until: firstUnanswered.map { min(next, $0 + patience) } ?? next)
  }

  /// A probe has really been given to the connection.
  mutating func probed(at now: ContinuousClock.Instant) {
    firstUnanswered = firstUnanswered ?? now
    lastProbe = now
  }
}
