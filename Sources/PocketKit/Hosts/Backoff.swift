import SSHClient

/// How long to wait before the next attempt to reach a host: longer each time, and never the same
/// for two clients that lost it at the same moment.
struct Backoff {
  private static let longest = 15.0
  private var next = 0.25

  /// Begins anew, after an attempt that worked.
  mutating func reset() { next = 0.25 }

  /// The wait after `error`.
  mutating func wait(after error: SSHError?) -> Duration {
    // An OpenSSH of 9.8 or later shuts out for a while who connects and does not log in
    // (sshd_config(5), PerSourcePenalties); to knock again at once makes it longer.
    let isShutOut = error?.phase == .banner && error?.kind == .unreachable
    let least = isShutOut ? 15.0 : 0
    let seconds = max(next * Double.random(in: 0.5...1), least)
    next = min(next * 2, Self.longest)
    return .milliseconds(Int(seconds * 1000))
  }
}
