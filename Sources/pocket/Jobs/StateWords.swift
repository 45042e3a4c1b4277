import JobModel
import JobStore

/// A job's state in a person's words: the same ones in every command.
struct StateWords {
  /// A few words for a table.
  let short: String
  /// A sentence's worth, where there is more to say.
  let detail: String?

  /// - Parameters:
  ///   - exit: the host's record of the end, which may have more to say than the state.
  ///   - evidence: what the last look found.
  init(
    _ state: JobState, isProved: Bool = true, exit: ExitRecord? = nil, evidence: Evidence? = nil
  ) {
    let rest = isProved ? nil : "not all of its output is here yet"
    switch state {
    case .launching:
      short = "launching"
      detail =
        evidence?.start == Evidence.Start.none
        ? "the host has no record of a start; a resume starts it, once"
        : "whether it has started is not known yet"
    case .running:
      (short, detail) = ("running", nil)
    case .finished(let status):
      (short, detail) = ("finished, " + Self.words(status) + Self.words(exit), rest)
    case .cancelled(nil):
      (short, detail) = ("cancelled", "before it started")
    case .cancelled(let record?):
      (short, detail) = ("cancelled" + Self.words(record), rest)
    case .lost(let reason):
      (short, detail) = ("lost (\(Self.words(reason)))", Self.explanation(reason))
    case .elsewhere(let machine):
      short = "elsewhere (\(printable(machine)))"
      detail = "it belongs to that machine, which shares its home with this host"
    case .unreachable(_, let lastKnown):
      short = "unreachable (\(StateWords(lastKnown.known).short))"
      detail = "the host does not answer; this is what was known of the job before"
    case .neverStarted(let reason):
      (short, detail) = ("never started", Self.words(reason))
    }
  }

  init(_ job: Job) {
    let words = StateWords(
      job.state, isProved: job.proved, exit: job.exit, evidence: job.evidence)
    if case .finished = job.state, let end = LimitWords(job).end {
      (short, detail) = (end + Self.words(job.exit), words.detail)
    } else {
      self = words
    }
  }

  /// Both in one.
  var sentence: String { short + (detail.map { ": " + $0 } ?? "") }

  /// What the record says beside the code.
  private static func words(_ exit: ExitRecord?) -> String {
    (exit?.diskWasFull == true ? ", disk full" : "")
      + (exit?.memoryWasShort == true ? ", out of memory" : "")
  }

  private static func words(_ status: ExitStatus) -> String {
    switch status {
    case .code(let code): "exit \(code)"
    case .signal(let signal): "signal \(signal)" + (signalNames[signal].map { " (\($0))" } ?? "")
    case .unknown(let number): "exit \(number) or signal \(number - 128)"
    }
  }

  private static func words(_ reason: LostReason) -> String {
    switch reason {
    case .rebooted: "host rebooted"
    case .containerRestarted: "container restarted"
    case .killed: "killed without a record"
    case .outOfMemory: "out of memory"
    case .loggedOut: "logged out"
    case .diskFull: "disk full"
    case .startDamaged: "start record damaged"
    case .removed: "removed"
    case .directoryGone: "directory gone"
    case .outputCut: "output cut"
    }
  }

  private static func explanation(_ reason: LostReason) -> String {
    switch reason {
    case .rebooted: "the machine was started anew while it ran"
    case .containerRestarted: "its container was started anew while it ran"
    case .killed: "its supervisor was killed with it, so that nobody knows how it ended"
    case .outOfMemory: "the kernel killed for want of memory, its supervisor is gone too"
    case .loggedOut: "logind has ended the login session that it was in, with all of it"
    case .diskFull: "its end could not be recorded, since the disk has no room"
    case .startDamaged: "what the host has recorded of its start cannot be read"
    case .removed: "its directory on the host was removed by `pocket rm`"
    case .directoryGone: "its directory on the host is not there any more"
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
