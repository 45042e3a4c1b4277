import Testing

@testable import pocket

/// The parser alone: no process, no output, no environment.
@Suite struct ParseTests {
  static let flag = OptionKey<Bool>.flag("detach", "d", "let go at once")
  static let json = OptionKey<Bool>.flag("json", nil, "JSON")
  static let host = OptionKey<Word?>.value("host", "H", "HOST", "where it runs")
  static let extra = OptionKey<[Word]>.list("agent-arg", nil, "ARG", "for the agent")
  enum Start: String, CaseIterable { case shown, now }
  static let from = OptionKey<Start?>.choice("from", "where to begin")

  static let table = CommandTable(
    root: Command("pocket", summary: "Root.", options: [json.spec]) { _, _ in .success },
    commands: [
      Command(
        "run", summary: "Run.", positionals: [Positional("prompt", .optional)],
        options: [flag.spec, host.spec, extra.spec, from.spec], takesCommand: true,
        tooManyHint: "quote it"
      ) { _, _ in .success },
      Command("rm", summary: "Remove.", positionals: [Positional("job", .oneOrMore)]) { _, _ in
        .success
      },
    ],
    topics: [HelpTopic(name: "settings", summary: "Settings.", text: "text")])

  func invocation(_ words: Word...) throws -> Invocation {
    guard case .run(_, let invocation) = try Self.table.parse(words) else {
      Issue.record("\(words) is no command")
      return Invocation()
    }
    return invocation
  }

  func failure(_ words: Word...) -> [String] {
    do {
      _ = try Self.table.parse(words)
      return []
    } catch {
      return error.lines
    }
  }

  @Test(
    arguments: [
      ["run", "-H", "dev1", "p"], ["run", "-Hdev1", "p"], ["run", "--host", "dev1", "p"],
      ["run", "--host=dev1", "p"], ["run", "p", "-H", "dev1"], ["run", "-dHdev1", "p"],
      ["run", "-dH", "dev1", "p"],
    ] as [[Word]]) func everyWayToGiveAValueMeansTheSame(_ words: [Word]) throws
  {
    guard case .run(let command, let invocation) = try Self.table.parse(words) else {
      Issue.record("not a command")
      return
    }
    #expect(command.name == "run")
    #expect(invocation[Self.host] == "dev1")
    #expect(invocation.positionals == ["p"])
    #expect(invocation[Self.flag] == words.contains { $0.shown.hasPrefix("-d") })
  }

  @Test func whatFollowsTwoDashesIsNotLookedAt() throws {
    let invocation = try invocation("run", "-d", "--", "make", "--host", "-x", "--", "-h")
    #expect(invocation.command == ["make", "--host", "-x", "--", "-h"])
    #expect(invocation[Self.host] == nil)
    #expect(invocation[Self.flag])
  }

  @Test func whereNoCommandIsTakenTwoDashesEndTheOptions() throws {
    #expect(try invocation("rm", "a", "--", "-b").positionals == ["a", "-b"])
  }

  @Test func valuesMayBeEmptyOrLookLikeOptions() throws {
    #expect(try invocation("run", "--host=", "p")[Self.host] == "")
    #expect(try invocation("run", "--host=a=b", "p")[Self.host] == "a=b")
    #expect(try invocation("run", "--agent-arg", "--model", "p")[Self.extra] == ["--model"])
  }

  @Test func repeatableOptionsKeepTheirOrder() throws {
    let invocation = try invocation("run", "--agent-arg=a", "p", "--agent-arg", "-b")
    #expect(invocation[Self.extra] == ["a", "-b"])
  }

  @Test func bytesThatAreNotUTF8ArriveAsTheyAre() throws {
    let odd = Word([0xFF, 0x0A, 0xC3])
    #expect(try invocation("run", odd).positionals == [odd])
    #expect(try invocation("run", "--", "printf", odd).command == ["printf", odd])
    let host = Word(Array("--host=".utf8) + [0xFE])
    #expect(try invocation("run", host, "p")[Self.host]?.bytes == [0xFE])
  }

  @Test func aLoneDashIsAPositional() throws {
    #expect(try invocation("run", "-").positionals == ["-"])
  }

  @Test func choicesAreChecked() throws {
    #expect(try invocation("run", "--from", "now", "p")[Self.from] == .now)
    #expect(
      failure("run", "--from=noww", "p")
        == ["'noww' is no value of '--from'", "did you mean 'now'? (see 'pocket run --help')"])
    #expect(failure("run", "--from=x", "p")[1].hasPrefix("it is one of shown, now"))
  }

  @Test func helpIsGivenEvenWhenWordsAreMissingOrTooMany() throws {
    for words in [["rm", "-h"], ["rm", "--help"], ["help", "rm"], ["rm", "a", "-h"]] as [[Word]] {
      guard case .help(let command) = try Self.table.parse(words) else {
        Issue.record("\(words) gives no help")
        continue
      }
      #expect(command.name == "rm")
    }
    for words in [["-h"], ["--help"], ["help"]] as [[Word]] {
      guard case .help(let command) = try Self.table.parse(words) else {
        Issue.record("\(words) gives no help")
        continue
      }
      #expect(command.name == "pocket")
    }
    guard case .topic(let topic) = try Self.table.parse(["help", "settings"]) else {
      Issue.record("no topic")
      return
    }
    #expect(topic.name == "settings")
    guard case .version = try Self.table.parse(["--version"]) else {
      Issue.record("no version")
      return
    }
  }

  @Test func typosGetASuggestionInTwoLines() {
    #expect(
      failure("rnu") == [
        "there is no command 'rnu'", "did you mean 'pocket run'? (see 'pocket --help')",
      ])
    #expect(
      failure("run", "--hots", "x") == [
        "run has no option '--hots'", "did you mean '--host'? (see 'pocket run --help')",
      ])
    #expect(
      failure("run", "-x") == ["run has no option '-x'", "see 'pocket run --help'"])
    #expect(failure("zzzzzz") == ["there is no command 'zzzzzz'", "see 'pocket --help'"])
  }

  @Test func wrongCountsAreNamed() {
    #expect(failure("rm") == ["job is missing", "see 'pocket rm --help'"])
    #expect(
      failure("run", "make", "test") == [
        "'test' is one word too many", "quote it (see 'pocket run --help')",
      ])
    #expect(failure("run", "p", "--", "ls").first == "'p' is one word too many")
    #expect(failure("run", "--").first == "no command follows '--'")
    #expect(failure("run", "--host").first == "'--host' needs a value, HOST")
    #expect(failure("run", "-H").first == "'-H' needs a value, HOST")
    #expect(failure("run", "--detach=yes").first == "'--detach' takes no value")
    #expect(failure("run", "-H", "a", "-H", "b").first == "'-H' was given twice")
    #expect(failure("--json", "ls").first == "'ls' is one word too many")
  }

  @Test func anErrorCannotDriveTheTerminal() {
    #expect(failure("ru\u{1B}]0;x\u{7}n").first?.contains("\u{1B}") == false)
  }
}
