/// Decides from silence whether a link is dead. TCP itself takes a quarter of an hour to notice,
/// and not everywhere can that be changed.
///
/// After 2 s without a byte a probe goes out, and again every 2 s; a probe that stays without any
/// byte in answer for 6 s proves the link dead: 8 s of silence in all. It is the probe's age that
/// counts, so that a process that was stopped does not take its own pause for the server's.
struct Liveness: Sendable {
  static let probeInterval = Duration.seconds(2)
  static let patience = Duration.seconds(6)

  private var firstUnanswered: ContinuousClock.Instant?
  private var lastProbe: ContinuousClock.Instant?

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
    if let first = firstUnanswered, now - first >= Self.patience {
      return .dead(silence: now - lastReceived)
    }
    let next = max(lastReceived, lastProbe ?? lastReceived) + Self.probeInterval
    if now >= next { return .probe }
    return .wait(until: firstUnanswered.map { min(next, $0 + Self.patience) } ?? next)
  }

  /// A probe has really been given to the connection.
  mutating func probed(at now: ContinuousClock.Instant) {
    firstUnanswered = firstUnanswered ?? now
    lastProbe = now
  }
}
