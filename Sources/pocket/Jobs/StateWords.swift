import JobModel
import JobStore

/// A job's state in a person's words.
struct StateWords {
  /// A few words for a table.
  let short: String
  /// A sentence's worth, where there is more to say.
  let detail: String?

  init(_ state: JobState, isProved: Bool = true) {
    switch state {
    case .launching:
      (short, detail) = ("launching", "whether it has started is not known yet")
    case .running:
      (short, detail) = ("running", nil)
    case .finished(let status):
      short = "finished, " + Self.words(status)
      detail = isProved ? nil : "not all of its output is here yet"
    case .cancelled(nil):
      (short, detail) = ("cancelled", "before it started")
    case .cancelled:
      (short, detail) = ("cancelled", isProved ? nil : "not all of its output is here yet")
    case .lost(let reason):
      (short, detail) = ("lost", Self.words(reason))
    case .elsewhere(let machine):
      short = "elsewhere"
      detail = "it belongs to \(printable(machine)), which shares its home with this host"
    case .unreachable(_, let lastKnown):
      short = "unreachable"
      detail = "the host does not answer; the job was \(StateWords(lastKnown.known).short)"
    case .neverStarted(let reason):
      (short, detail) = ("never started", Self.words(reason))
    }
  }

  init(_ job: Job) {
    let words = StateWords(job.state, isProved: job.proved)
    if case .finished = job.state, let end = LimitWords(job).end {
      (short, detail) = (end, words.detail)
    } else {
      self = words
    }
  }

  /// Both in one.
  var sentence: String { short + (detail.map { ": " + $0 } ?? "") }

  private static func words(_ status: ExitStatus) -> String {
    switch status {
    case .code(let code): "exit \(code)"
    case .signal(let signal): "signal \(signal)" + (signalNames[signal].map { " (\($0))" } ?? "")
    case .unknown(let number): "exit \(number) or signal \(number - 128)"
    }
  }

  private static func words(_ reason: LostReason) -> String {
    switch reason {
    case .rebooted: "the machine was restarted while it ran"
    case .supervisorGone: "its supervisor was killed, so nobody knows how it ended"
    case .removed: "it was removed"
    case .directoryGone: "its directory on the host is gone"
    case .outputCut: "it has ended, but its output was cut before it could be read"
    }
  }

  private static func words(_ reason: NeverStartedReason) -> String {
    switch reason {
    case .refused(.cwd?, let words): "cannot enter the directory: \(printable(words))"
    case .refused(.program?, let words): "no such program: \(printable(words))"
    case .refused(.permission?, let words): "the program may not be run: \(printable(words))"
    case .refused(nil, let words): printable(words)
    case .removed: "it was removed first"
    case .notLaunched(let words): printable(words)
    }
  }

  // The numbers that POSIX fixes for kill(1), and which are the same everywhere.
  private static let signalNames = [
    1: "HUP", 2: "INT", 3: "QUIT", 6: "ABRT", 9: "KILL", 14: "ALRM", 15: "TERM",
  ]
}

/// `seconds` as a person says it: `3 s`, `5 min`, `2 h`, `4 d`.
func age(_ seconds: Int64) -> String {
  switch max(0, seconds) {
  case let seconds where seconds < 120: "\(seconds) s"
  case let seconds where seconds < 2 * 3600: "\(seconds / 60) min"
  case let seconds where seconds < 2 * 86400: "\(seconds / 3600) h"
  case let seconds: "\(seconds / 86400) d"
  }
}

/// A count of bytes in three digits at most: `512 B`, `12 kB`, `1.4 MB` (powers of 1000).
func size(_ bytes: Int64) -> String {
  guard bytes >= 1000 else { return "\(bytes) B" }
  var tenths = bytes / 100
  for unit in ["kB", "MB", "GB", "TB"] {
    if tenths < 100 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
    if tenths < 10_000 { return "\(tenths / 10) \(unit)" }
    tenths /= 1000
  }
  return "\(tenths / 10) PB"
}
