#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Claude Code (`claude -p`).
struct Claude: Agent {
  let name = "claude"
  // INT: it writes a `result` with the cost and ends its tools. TERM: no `result`.
  let cancelBeginsWithInterrupt = true

  let tested = AgentVersion(2, 1, 332)...AgentVersion(2, 1, 332)
  let credentials = AgentCredentials(
    folderVariable: "CLAUDE_CONFIG_DIR", folder: ".claude", file: ".credentials.json",
    variables: [
      "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
    ])

  /// Without this sentence the agent starts a long command in the background, ends its turn, and
  /// ends the command with it.
  static let waiting = """
    Nobody answers while you work, and what still runs when you end your turn is ended with it: \
    run long commands in the foreground and wait until they are done.
    """

  func command(arguments: [[UInt8]]) -> AgentCommand {
    // stream-json needs --verbose, or the program refuses to start.
    var words = ["claude", "-p", "--output-format", "stream-json", "--verbose"]
    words += ["--append-system-prompt", Self.waiting]
    var session: String?
    if !Self.namesSession(arguments) {
      let id = UUID().uuidString.lowercased()
      words += ["--session-id", id]
      session = id
    }
    return AgentCommand(arguments: words.map { Array($0.utf8) } + arguments, session: session)
  }

  /// Whether the user's own arguments say which session it shall be; two such wishes are refused.
  private static func namesSession(_ arguments: [[UInt8]]) -> Bool {
    arguments.contains { argument in
      let option = argument.prefix { $0 != UInt8(ascii: "=") }
      return ["--session-id", "--resume", "-r", "--continue", "-c"].contains {
        option.elementsEqual($0.utf8)
      }
    }
  }

  func events(in line: [UInt8]) -> [AgentEvent] { ClaudeLine.events(in: line) }
}

/// One line of `--output-format stream-json`.
private struct ClaudeLine: AgentLine {
  let events: [AgentEvent]

  init(from decoder: any Decoder) throws {
    let line = try JSONObject(from: decoder)
    switch (line.string("type"), line.string("subtype")) {
    case ("system", "init"):
      events = line.string("session_id").map { [.sessionStarted(id: $0)] } ?? []
    case ("system", "api_retry"):
      events = [.error(Self.retry(line))]
    case ("assistant", _):
      events = Self.blocks(of: line).compactMap { Self.said(in: $0, by: line) }
    case ("user", _):
      events = Self.blocks(of: line).compactMap(Self.toolEnded)
    case ("result", let subtype):
      events = [Self.result(line, subtype: subtype ?? "error")]
    default:
      events = []
    }
  }

  private static func blocks(of line: JSONObject) -> [JSONObject] {
    line.object("message")?.objects("content") ?? []
  }

  private static func said(in block: JSONObject, by line: JSONObject) -> AgentEvent? {
    switch block.string("type") {
    case "text":
      // A subagent's text goes to the agent that called it, which has the last word.
      if line.string("parent_tool_use_id") != nil { return nil }
      return block.string("text").map { .text($0) }
    case "tool_use":
      guard let id = block.string("id"), let name = block.string("name") else { return nil }
      return .toolStarted(id: id, summary: summary(of: name, block.object("input")))
    default:
      return nil
    }
  }

  private static func summary(of tool: String, _ input: JSONObject?) -> String {
    if tool == "Bash", let command = input?.string("command") {
      return "$ " + command.summary
    }
    let telling = ["file_path", "notebook_path", "path", "pattern", "url", "query", "description"]
    let detail = telling.lazy.compactMap { input?.string($0) }.first
    return detail.map { "\(tool) \($0.summary)" } ?? tool
  }

  private static func toolEnded(_ block: JSONObject) -> AgentEvent? {
    guard block.string("type") == "tool_result", let id = block.string("tool_use_id") else {
      return nil
    }
    return .toolEnded(id: id, isError: block.bool("is_error") ?? false)
  }

  private static func retry(_ line: JSONObject) -> String {
    let cause = line.integer("error_status").map { "HTTP \($0)" } ?? "no answer"
    let counts = [line.integer("attempt"), line.integer("max_retries")].compactMap { $0 }
    let attempt = counts.count == 2 ? " \(counts[0]) of \(counts[1])" : ""
    return "the model API failed (\(cause)): retry\(attempt)"
  }

  /// `success` with `is_error` is an API or authentication failure; `result` is absent on errors.
  private static func result(_ line: JSONObject, subtype: String) -> AgentEvent {
    let errors = line.strings("errors")
    let text = line.string("result") ?? (errors.isEmpty ? nil : errors.joined(separator: "\n"))
    if subtype == "success", line.bool("is_error") == false {
      return .result(.success, text: text)
    }
    // These two say little: the reason why the turn ended is the better word, where there is one.
    let vague = ["success", "error_during_execution"].contains(subtype)
    let word = vague ? line.string("terminal_reason") : nil
    return .result(.failure(word ?? (subtype == "success" ? "error" : subtype)), text: text)
  }
}
