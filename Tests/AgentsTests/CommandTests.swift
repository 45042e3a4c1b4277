import Agents
import Testing

@Suite struct CommandTests {
  private func command(_ agent: String, _ arguments: [String] = []) throws -> AgentCommand {
    try #require(AgentCatalog.agent(named: agent))
      .command(arguments: arguments.map { Array($0.utf8) })
  }

  private func words(_ command: AgentCommand) -> [String] {
    command.arguments.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func claudeIsGivenASessionOfOurs() throws {
    let first = try command("claude")
    let session = try #require(first.session)
    #expect(session.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}/) != nil)
    let list = words(first)
    let at = try #require(list.firstIndex(of: "--session-id"))
    #expect(list[at + 1] == session)
    #expect(try command("claude").session != session)
  }

  @Test(arguments: ["--resume", "--resume=x", "-r", "-c", "--continue", "--session-id"])
  func claudeIsGivenNoSessionWhereTheUserNamesOne(option: String) throws {
    let given = try command("claude", [option, "x"])
    #expect(given.session == nil)
    #expect(
      words(given).filter { $0 == "--session-id" }.count == (option == "--session-id" ? 1 : 0))
  }

  @Test func claudesEventsNeedVerbose() throws {
    let list = words(try command("claude"))
    #expect(list.starts(with: ["claude", "-p", "--output-format", "stream-json", "--verbose"]))
  }

  @Test func sentenceOnWaitingIsOneSafeArgument() throws {
    let list = words(try command("claude"))
    let at = try #require(list.firstIndex(of: "--append-system-prompt"))
    let sentence = list[at + 1]
    #expect(sentence.contains("foreground"))
    #expect(!sentence.hasPrefix("-"))
    #expect(!sentence.contains("\n"))
  }

  @Test func argumentsOfTheUserArriveVerbatim() throws {
    let hostile = ["-c", "a b'\"$(x)\n", "", "--", "\u{1F642}"]
    #expect(words(try command("claude", hostile)).suffix(5).elementsEqual(hostile))
    #expect(
      words(try command("codex", hostile))
        == ["codex", "exec", "--json", "--skip-git-repo-check"] + hostile + ["-"])
    let bytes: [UInt8] = [0xFF, 0x80]
    let claude = try #require(AgentCatalog.agent(named: "claude"))
    #expect(claude.command(arguments: [bytes]).arguments.last == bytes)
  }

  @Test func unknownNameIsNoAgent() {
    #expect(AgentCatalog.agent(named: "Claude") == nil)
    #expect(AgentCatalog.agent(named: "") == nil)
    #expect(AgentCatalog.all.map(\.name) == ["claude", "codex"])
  }

  @Test func cancelOfEachAgentBeginsWithInterrupt() {
    for agent in AgentCatalog.all { #expect(agent.cancelBeginsWithInterrupt, "\(agent.name)") }
  }
}
