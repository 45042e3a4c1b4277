import Agents
import Testing

/// Lines that were not recorded, because no agent printed them when it was asked to.
@Suite struct LineTests {
  private func events(_ agent: String, _ line: String) throws -> [AgentEvent] {
    try #require(AgentCatalog.agent(named: agent)).events(in: Array(line.utf8))
  }

  @Test(arguments: AgentCatalog.all.map(\.name))
  func unknownAndMisshapenEventsArePassedOver(agent: String) throws {
    let lines = [
      "{}", #"{"type":7}"#, #"{"type":"brand_new","message":{"content":"x"}}"#,
      #"{"type":"assistant","message":"x"}"#, #"{"type":"assistant"}"#,
      #"{"type":"user","message":{"content":"a prompt"}}"#,
      #"{"type":"system","subtype":"init","session_id":null}"#,
      #"{"type":"thread.started"}"#, #"{"type":"item.completed","item":[]}"#,
      #"{"type":"item.started","item":{"type":"todo_list","items":[]}}"#,
      #"{"type":"error","message":{}}"#, "", "  \t\r",
    ]
    for line in lines { #expect(try events(agent, line) == [], "\(line)") }
  }

  @Test(arguments: AgentCatalog.all.map(\.name))
  func lineThatIsNoEventIsShownAsItIs(agent: String) throws {
    for line in ["Error: no such directory", "[1]", "42", #"{"type":"resu"#, "{\"a\":\u{0}}"] {
      #expect(try events(agent, line) == [.plain(line)])
    }
  }

  @Test(arguments: AgentCatalog.all.map(\.name))
  func bytesThatAreNotUTF8AreShownAndStopNothing(agent: String) throws {
    var reader = AgentReader(agent: try #require(AgentCatalog.agent(named: agent)))
    #expect(reader.read([0x61, 0xFF, 0x0A]) == [.plain("a\u{FFFD}")])
    #expect(reader.read(Array(#"{"type":"x"}"#.utf8) + [0x0A]) == [])
  }

  @Test func oneMisshapenMemberDoesNotHideTheRest() throws {
    let line = """
      {"uuid":1,"message":{"content":[{"type":"text","text":"shown","citations":7}],"usage":"?"},\
      "parent_tool_use_id":null,"session_id":["?"],"type":"assistant"}
      """
    #expect(try events("claude", line) == [.text("shown")])
  }

  @Test func hugeNumbersAreNoTrap() throws {
    let line = #"{"type":"system","subtype":"api_retry","attempt":1e300,"error_status":-1e999}"#
    #expect(try events("claude", line).count <= 1)
  }

  @Test func deepNestingIsNoTrap() throws {
    let deep = String(repeating: "[", count: 100_000)
    #expect(try events("codex", "{\"a\":" + deep).count == 1)
  }

  @Test func summaryIsOneLine() throws {
    let line = #"""
      {"type":"assistant","message":{"content":[
      {"type":"tool_use","id":"1","name":"Bash","input":{"command":"cat <<E\nsecret\nE"}},
      {"type":"tool_use","id":"2","name":"Grep","input":{"pattern":"\#(String(repeating: "가", count: 300))"}},
      {"type":"tool_use","id":"3","name":"TaskStop","input":{}}]}}
      """#
    #expect(
      try events("claude", line) == [
        .toolStarted(id: "1", summary: "$ cat <<E…"),
        .toolStarted(id: "2", summary: "Grep " + String(repeating: "가", count: 200) + "…"),
        .toolStarted(id: "3", summary: "TaskStop"),
      ])
  }

  @Test func lineOfFiveMegabytesIsRead() throws {
    let text = String(repeating: "0123456789 가나다 🙂 ", count: 200_000)
    var reader = AgentReader(agent: try #require(AgentCatalog.agent(named: "codex")))
    let item = #"{"type":"item.completed","item":{"type":"agent_message","text":"\#(text)"}}"#
    #expect(reader.read(Array(item.utf8) + [0x0A]) == [.text(text)])
  }

  @Test func lineBeyondTheLimitIsSaidToBeMissingAndTheNextIsRead() throws {
    var reader = AgentReader(agent: try #require(AgentCatalog.agent(named: "codex")))
    let piece = [UInt8](repeating: 0x61, count: AgentReader.longestLine / 2 + 1)
    #expect(reader.read(piece) == [])
    #expect(reader.read(piece) == [])
    let events = reader.read([0x0A] + Array(#"{"type":"turn.completed"}"#.utf8) + [0x0A])
    #expect(events.count == 2)
    #expect(events.first != .plain(""))
    #expect(events.last == .result(.success, text: nil))
  }

  @Test func lineSeparatorOfUnicodeEndsNoLine() throws {
    var reader = AgentReader(agent: try #require(AgentCatalog.agent(named: "codex")))
    let item =
      "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"a\u{2028}b\u{85}\"}}\n"
    #expect(reader.read(Array(item.utf8)) == [.text("a\u{2028}b\u{85}")])
  }

  @Test func outcomeSurvivesTheStore() {
    for outcome in [AgentOutcome.success, .failure("error_max_turns")] {
      #expect(AgentOutcome(outcome.description) == outcome)
    }
  }
}
