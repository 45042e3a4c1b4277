/// What an agent said in one line of its output, in words that are the same for all agents.
public enum AgentEvent: Sendable, Hashable {
  /// The agent session has this id. May come more than once in a run.
  case sessionStarted(id: String)
  /// Whole text of the agent's answer, as it stands: it may hold line ends and control characters.
  case text(String)
  /// A tool was called; `summary` is one line for people, such as `$ npm test` or `Write a.txt`.
  case toolStarted(id: String, summary: String)
  /// The tool call `id` has ended.
  case toolEnded(id: String, isError: Bool)
  /// A complaint that need not be the end: a failed request that is tried again, a warning.
  case error(String)
  /// The agent's own word on how a turn ended. A run may hold several, and the last one counts.
  case result(AgentOutcome, text: String?)
  /// A line that is no event: what a program prints before or instead of its events.
  case plain(String)
}

/// What an agent itself said of a run, beside the exit status, which does not tell: Claude Code
/// exits with 0 after an interrupt.
public enum AgentOutcome: Sendable, Hashable {
  /// The turn was completed.
  case success
  /// It was not; the word is the agent's own, such as `error_max_turns`.
  case failure(String)
}

extension AgentOutcome: CustomStringConvertible {
  /// `success`, or the word of the failure: one word, as the store keeps it.
  public var description: String {
    switch self {
    case .success: "success"
    case .failure(let word): word
    }
  }

  /// Reads back what `description` gave.
  public init(_ description: String) {
    self = description == "success" ? .success : .failure(description)
  }
}
