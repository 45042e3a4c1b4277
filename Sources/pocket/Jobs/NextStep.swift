import JobModel
import JobStore

/// What a person can do about a job next: made of what is known of it and of nothing else, so that
/// every command advises the same.
struct NextStep: Equatable {
  /// When to bring it up.
  enum Occasion {
    /// As long as it is so: something waits for the user.
    case untilDone
    /// Once, when it is new.
    case news
    /// When somebody asks.
    case asked
  }

  let words: String
  let occasion: Occasion

  private init(_ occasion: Occasion, _ words: String) {
    (self.occasion, self.words) = (occasion, words)
  }

  /// - Parameter cancelWantedAt: since when a cancel is kept for the next contact with the host, in
  ///   seconds since 1970; nil when none is.
  init?(for job: Job, cancelWantedAt: Int64?, now: Int64) {
    let name = job.name ?? job.id.description
    let host = printable(job.host)
    if let queued = job.queuedCancel(wantedAt: cancelWantedAt, now: now) {
      self.init(.untilDone, "\(queued): pocket cancel \(name)")
    } else if !job.leftovers.isEmpty {
      self.init(
        .untilDone, "something of it still lives; to end it: pocket cancel --left-over \(name)")
    } else {
      switch job.state {
      case .launching:
        self.init(.untilDone, "find out whether it started: pocket resume \(name)")
      case .unreachable: self.init(.untilDone, "try again: pocket resume \(name)")
      case .running: self.init(.asked, "follow it: pocket resume \(name)")
      case .finished where !job.proved:
        self.init(.untilDone, "fetch the rest of its output: pocket resume \(name)")
      case .finished, .cancelled(.some):
        // Of a cancelled job nobody waits for the rest.
        guard job.proved, job.lateOut + job.lateErr > job.lateOutTaken + job.lateErrTaken else {
          return nil
        }
        self.init(.asked, "take in what came after its end: pocket resume --late \(name)")
      case .cancelled(nil): return nil
      case .lost(let reason): self.init(.news, Self.words(reason, name, host))
      case .elsewhere(let machine):
        self.init(
          .news, "ask that machine: reach it by a host name that leads to \(printable(machine))")
      case .neverStarted(let reason): self.init(.news, Self.words(reason, host))
      }
    }
  }

  private static func words(_ reason: LostReason, _ name: String, _ host: String) -> String {
    let logs = "see how far it got: pocket logs \(name)"
    return switch reason {
    case .rebooted, .containerRestarted, .killed, .outputCut, .removed, .directoryGone:
      logs + "; to do it again is a new job"
    case .outOfMemory: logs + "; a new job needs more memory on \(host), or less of it"
    case .loggedOut:
      logs + "; a new job ends in the same way, until logind lets it live: pocket doctor \(host)"
    case .diskFull: logs + "; make room on \(host) before a new job"
    case .startDamaged:
      "look on \(host) whether it still runs: nothing there can be signalled safely"
    }
  }

  private static func words(_ reason: NeverStartedReason, _ host: String) -> String {
    switch reason {
    case .refused(.cwd?, _): "start it again in a directory that \(host) has: pocket run -C DIR"
    case .refused(.program?, _):
      "install the program on \(host) or give its path, and start it again"
    case .refused(.permission?, _): "make the program executable on \(host), and start it again"
    case .refused(nil, _), .removed, .notLaunched: "nothing has run; start it again: pocket run"
    }
  }
}
