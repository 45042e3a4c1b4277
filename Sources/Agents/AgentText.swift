/// Turns events into what a person reads: the agent's text, a line for each tool call, errors, and
/// the final answer where it was not shown already.
///
/// The text is the agent's, byte for byte: whoever writes it to a terminal makes it harmless first.
public struct AgentText: Sendable {
  private var shown: String?

  /// Nothing was shown yet.
  public init() {}

  /// What to write for `event`, whole lines, or nil where there is nothing to show.
  public mutating func lines(for event: AgentEvent) -> String? {
    switch event {
    case .text(let text), .plain(let text):
      return line(text)
    case .toolStarted(_, let summary):
      return summary + "\n"
    case .error(let message):
      return "error: " + line(message)
    case .result(.success, let text):
      guard let text, !text.isEmpty, text != shown else { return nil }
      return line(text)
    case .result(.failure(let word), let text):
      guard let text, !text.isEmpty, text != shown else { return "error: \(word)\n" }
      return "error: \(word): " + line(text)
    case .sessionStarted, .toolEnded:
      return nil
    }
  }

  private mutating func line(_ text: String) -> String {
    shown = text
    return text.utf8.last == 0x0A ? text : text + "\n"
  }
}

extension String {
  /// The first line in at most 200 characters, with an ellipsis where more was left out.
  var summary: String {
    let line = unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
    let cut = String(line).prefix(200)
    return cut.utf8.count == utf8.count ? self : cut + "…"
  }
}
