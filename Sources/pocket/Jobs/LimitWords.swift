import JobModel
import JobStore

/// What a job's limits are, and what they did, in a person's words.
struct LimitWords {
  private let job: Job

  init(_ job: Job) { self.job = job }

  /// The limits that the job was given; nil without any.
  var given: String? {
    let limits = job.request.limits
    var parts = limits.timeout.map { ["ended after \(age($0))"] } ?? []
    if let bytes = limits.maxOutput {
      parts.append(
        limits.onMaxOutput == .stop
          ? "ended at \(size(bytes)) of output" : "output over \(size(bytes)) discarded")
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  /// How a limit ended the job, for a table; nil when none did.
  var end: String? {
    switch job.exit?.limit {
    case .timeout: "timed out" + (job.request.limits.timeout.map { " after \(age($0))" } ?? "")
    case .output: "stopped, too much output"
    case nil: nil
    }
  }

  /// What was cut off; nil when nothing was.
  var cut: String? {
    guard let exit = job.exit, !exit.cappedStreams.isEmpty else { return nil }
    let streams = JobStream.allCases.filter(exit.cappedStreams.contains).map(\.rawValue)
    let limit = job.request.limits.maxOutput.map { " of \(size($0))" } ?? ""
    return "\(streams.joined(separator: " and ")) ended at the limit\(limit), what followed is gone"
  }
}
