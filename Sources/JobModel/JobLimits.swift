/// What the host holds a job to, whoever is connected.
public struct JobLimits: Sendable, Hashable {
  /// What becomes of a job one of whose streams has reached `maxOutput`.
  public enum OutputAction: String, Sendable, Hashable, CaseIterable {
    /// The job is ended.
    case stop
    /// The job goes on, and what it writes to that stream is thrown away.
    case discard
  }

  /// How long the command may run, in seconds; nil is as long as it wants. Time in which the host is
  /// suspended does not count.
  public var timeout: Int64?
  /// How many bytes each stream may have before it is ended; nil is any number. What a fast writer
  /// adds before the host has looked is kept.
  public var maxOutput: Int64?
  /// What happens then.
  public var onMaxOutput: OutputAction

  /// These limits; none without arguments.
  public init(
    timeout: Int64? = nil, maxOutput: Int64? = nil, onMaxOutput: OutputAction = .stop
  ) {
    self.timeout = timeout
    self.maxOutput = maxOutput
    self.onMaxOutput = onMaxOutput
  }

  /// Whether nothing is limited.
  public var isEmpty: Bool { timeout == nil && maxOutput == nil }

  /// The lines of the request file, and the parts of the digest; none without limits.
  var lines: [String] {
    var lines = timeout.map { ["timeout=\($0)"] } ?? []
    if let maxOutput {
      lines += ["max_output=\(maxOutput)", "on_max_output=\(onMaxOutput.rawValue)"]
    }
    return lines
  }

  /// Whether a host can count to them: from 1 to a hundred years, or to a million gigabytes.
  var isValid: Bool {
    (1...3_162_240_000).contains(timeout ?? 1)
      && (1...1_000_000_000_000_000).contains(maxOutput ?? 1)
  }
}
