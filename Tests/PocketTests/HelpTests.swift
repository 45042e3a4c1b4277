import Testing

@testable import pocket

@Suite struct HelpTests {
  static let shown = CommandTable.pocket.commands.filter { !$0.isHidden }
  static let names = shown.map(\.name)

  @Test(arguments: names + ["pocket"]) func thePageIsOneScreenWithExamplesFirst(_ name: String)
    throws
  {
    let command = CommandTable.pocket.command(named: name) ?? CommandTable.pocket.root
    let page = HelpPage.text(for: command, in: .pocket)
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 40)
    for line in lines { #expect(displayWidth(of: line) <= 80, "\(line)") }
    let examples = try #require(lines.firstIndex(of: "Examples:"))
    let usage = try #require(lines.firstIndex(of: "Usage:"))
    let options = try #require(lines.firstIndex(of: "Options:"))
    #expect(examples < usage && usage < options)
    #expect(page.hasSuffix("\n") && !page.hasSuffix("\n\n"))
    #expect(!page.contains("\u{A0}") && !page.contains(" \n"))
  }

  @Test(arguments: CommandTable.pocket.topics.map(\.name)) func aTopicIsOneScreen(_ name: String)
    async throws
  {
    let page = await (try World()).run("help", Word(name))
    #expect(page.code == 0)
    for line in page.output.split(separator: "\n") { #expect(displayWidth(of: line) <= 80) }
  }

  /// An example that the parser refuses would be a bad joke.
  @Test(arguments: names + ["pocket"]) func everyExampleIsUnderstood(_ name: String) throws {
    let command = CommandTable.pocket.command(named: name) ?? CommandTable.pocket.root
    #expect(!command.examples.isEmpty)
    for example in command.examples {
      let words = Self.words(of: example.line)
      #expect(throws: Never.self, "\(example.line)") { try CommandTable.pocket.parse(words) }
      if command.name != "pocket" { #expect(words.first == Word(command.name), "\(example.line)") }
    }
  }

  /// The words of the first `pocket` in a line, as a shell would give them; enough for examples.
  static func words(of line: String) -> [Word] {
    var words: [String] = []
    var word = ""
    var isQuoted = false
    for character in line + " " {
      if character == "\"" {
        isQuoted.toggle()
      } else if character == " ", !isQuoted {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.append(character)
      }
    }
    let start = words.firstIndex { $0.hasSuffix("pocket") } ?? 0
    // `eval "$(pocket completions bash)"` is one quoted word.
    if let nested = words.first(where: { $0.hasPrefix("$(pocket ") }) {
      return nested.dropFirst("$(pocket ".count).dropLast().split(separator: " ").map { Word($0) }
    }
    return words[(start + 1)...].prefix { !["|", "&&", ">", "<", "2>/dev/null"].contains($0) }
      .map { Word($0) }
  }

  @Test func whatBelongsToLaterIssuesIsAbsent() throws {
    #expect(CommandTable.pocket.command(named: "continue") == nil)
  }

  @Test func everyWayToAskGivesTheSamePage() async throws {
    let world = try World()
    let page = await world.run("run", "--help")
    #expect(page.code == 0 && page.errors.isEmpty)
    #expect(await world.run("help", "run") == page)
    #expect(await world.run("run", "-h") == page)
    #expect(await world.run("run", "-h", "--hots") != page)
  }

  @Test func theWholeProgramsPage() async throws {
    #expect(await (try World()).run("--help").output == Self.rootPage)
  }

  @Test func thePageOfRun() async throws {
    #expect(await (try World()).run("help", "run").output == Self.runPage)
  }

  @Test func theVersionIsTold() async throws {
    #expect(await (try World()).run("--version").output == "pocket \(Program.version)\n")
  }
}
