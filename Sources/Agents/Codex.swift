/// Codex (`codex exec`).
struct Codex: Agent {
  let name = "codex"
  // INT: it ends its tools with all they started, though it writes no last event. TERM: their
  // children live on.
  let cancelBeginsWithInterrupt = true

  let tested = AgentVersion(0, 163, 0)...AgentVersion(0, 163, 0)
  let credentials = AgentCredentials(
    folderVariable: "CODEX_HOME", folder: ".codex", file: "auth.json",
    variables: ["CODEX_API_KEY", "OPENAI_API_KEY"])

  func command(arguments: [[UInt8]]) -> AgentCommand {
    // All of the user's arguments come after `exec`: one `-c` there makes it drop every `-c` before
    // it without a word. `-` is last, and so a leading `resume ID` among them works too.
    let before = ["codex", "exec", "--json", "--skip-git-repo-check"].map { Array($0.utf8) }
    return AgentCommand(arguments: before + arguments + [Array("-".utf8)], session: nil)
  }

  func events(in line: [UInt8]) -> [AgentEvent] { CodexLine.events(in: line) }
}

/// One line of `codex exec --json`.
private struct CodexLine: AgentLine {
  let events: [AgentEvent]

  init(from decoder: any Decoder) throws {
    let line = try JSONObject(from: decoder)
    let event: AgentEvent? =
      switch line.string("type") {
      case "thread.started": line.string("thread_id").map { .sessionStarted(id: $0) }
      case "item.started": line.object("item").flatMap(Self.toolStarted)
      case "item.completed": line.object("item").flatMap(Self.completed)
      case "error": line.string("message").map { .error($0) }
      case "turn.completed": .result(.success, text: nil)
      case "turn.failed":
        .result(.failure("turn.failed"), text: line.object("error")?.string("message"))
      default: nil
      }
    events = event.map { [$0] } ?? []
  }

  /// The item types that are tool calls, each with what tells about it.
  private static func toolStarted(_ item: JSONObject) -> AgentEvent? {
    guard let id = item.string("id"), let type = item.string("type") else { return nil }
    let summary: String
    switch type {
    case "command_execution":
      summary = "$ " + (item.string("command") ?? "").summary
    case "file_change":
      let changes = item.objects("changes").compactMap { change in
        change.string("path").map { "\(change.string("kind") ?? "change") \($0)" }
      }
      summary = changes.isEmpty ? "file change" : changes.joined(separator: ", ").summary
    case "mcp_tool_call", "collab_tool_call":
      summary = item.string("tool") ?? type
    case "web_search":
      summary = "web search " + (item.string("query") ?? "").summary
    default:
      return nil
    }
    return .toolStarted(id: id, summary: summary)
  }

  private static func completed(_ item: JSONObject) -> AgentEvent? {
    switch item.string("type") {
    case "agent_message":
      return item.string("text").map { .text($0) }
    case "error":
      return item.string("message").map { .error($0) }
    case "command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search":
      let failed = ["failed", "declined"].contains(item.string("status"))
      return item.string("id").map { .toolEnded(id: $0, isError: failed) }
    default:
      return nil
    }
  }
}
