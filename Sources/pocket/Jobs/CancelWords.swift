import JobModel
import JobStore
import PocketKit

/// What came of a cancel, in a person's words.
struct CancelWords {
  let job: Job
  let report: CancelReport

  /// What is said, before the first signal, of what carries the cookie outside the job's group, and
  /// of all that is left of a job that has ended.
  static func beyond(_ processes: [HostProcess], of job: Job, _ wish: CancelWish) -> String {
    if job.exit != nil { return "ending what is left of it: \(processes.labels)" }
    return wish.reach == .all
      ? "besides its group these carry its cookie and will be ended: \(processes.labels)"
      : "outside its group these carry its cookie and are left alone: \(processes.labels)"
  }

  /// One line, and a second one where something was left alone.
  var lines: [String] {
    guard report.survivors.isEmpty else {
      return ["\(job.label): these processes survived on \(job.host): \(report.survivors.labels)"]
    }
    var lines = [
      report.wasOver
        ? "\(job.label) was over already: \(StateWords(job.state).short)"
        : report.leftovers.isEmpty
          ? "\(job.label): nothing of it is alive on \(job.host)"
          : "\(job.label): its group is dead on \(job.host)"
    ]
    if !report.leftovers.isEmpty {
      let reason = report.wasOver ? "left alone, since they may be meant to stay" : "left alone"
      lines.append(
        "\(reason): \(report.leftovers.labels); to end them: pocket cancel --left-over \(job.id)")
    }
    return lines
  }
}

/// What came of a cancel, as `--json` shows it.
struct CancelLine: Encodable {
  let job: JobRecord
  let survivors: [Int]
  let leftovers: [Int]
  let wasOver: Bool

  init(_ job: JobRecord, _ report: CancelReport) {
    self.job = job
    survivors = report.survivors.map(\.pid)
    leftovers = report.leftovers.map(\.pid)
    wasOver = report.wasOver
  }
}

/// What a cancel ends, or leaves alone, beyond the job's group, as `--json` tells it beforehand.
struct BeyondLine: Encodable {
  let id: String
  let beyond: [ProcessRecord]
}

extension [HostProcess] {
  /// The processes in a sentence.
  var labels: String { map(\.label).joined(separator: ", ") }
}
