import TestSupport
import Testing

@testable import pocket

@Suite struct ConsoleTests {
  let output = MemorySink()
  let errors = MemorySink()
  static let terminal = TerminalFacts(
    inputIsTerminal: true, outputIsTerminal: true, errorsIsTerminal: true, columns: 40)

  func console(_ facts: TerminalFacts = TerminalFacts()) -> Console {
    Console(output: output, errors: errors, facts: facts)
  }

  @Test func offATerminalBytesPassExactly() async throws {
    let all = (0...255).map { UInt8($0) }
    let console = console()
    try await console.write(all)
    try await console.writeErrors(all)
    try await console.finish()
    #expect(output.bytes == all)
    #expect(errors.bytes == all)
  }

  @Test func onATerminalOnlyColourPasses() async throws {
    let console = console(Self.terminal)
    try await console.write(Array("a\u{1B}]0;x\u{7}\u{1B}[31mred\n".utf8))
    try await console.finish()
    #expect(output.text == "a␛]0;x␇\u{1B}[31mred\n\u{1B}[0m")
  }

  @Test func theTwoStreamsAreJudgedApart() async throws {
    let console = console(TerminalFacts(errorsIsTerminal: true))
    try await console.write([0x1B, 0x63])
    try await console.writeErrors([0x1B, 0x63])
    #expect(output.bytes == [0x1B, 0x63])
    #expect(errors.text == "␛c")
  }

  @Test func whatPocketSaysBeginsWithItsNameAndStaysOnOneLine() async throws {
    let console = console()
    try await console.say("dev1 said: a\nb\u{1B}[2J")
    #expect(errors.text == "pocket: dev1 said: a b␛[2J\n")
    #expect(output.text.isEmpty)
  }

  @Test func itsLinesDoNotHangOnAJobsUnfinishedLine() async throws {
    let console = console(Self.terminal)
    try await console.write(Array("\u{1B}[32mtail".utf8))
    try await console.say("done")
    #expect(output.text == "\u{1B}[32mtail\u{1B}[0m")
    #expect(errors.text == "\npocket: done\n")
  }

  @Test func theLiveLineMakesRoomForOutput() async throws {
    let console = console(Self.terminal)
    try await console.show(status: "connecting to dev1…")
    #expect(errors.text == "\u{1B}[2mpocket: connecting to dev1…\u{1B}[0m")
    errors.reset()
    try await console.write(Array("line\n".utf8))
    #expect(errors.text.hasPrefix("\r\u{1B}[K"))
    errors.reset()
    try await console.show(status: nil)
    #expect(errors.text == "\r\u{1B}[K")
  }

  @Test func theLiveLineMakesRoomForAQuestion() async throws {
    let console = console(Self.terminal)
    try await console.show(status: "connecting to dev1…")
    errors.reset()
    #expect(try await console.takeStatus() == "connecting to dev1…")
    #expect(errors.text == "\r\u{1B}[K")
    errors.reset()
    try await console.say("asked")
    #expect(errors.text == "pocket: asked\n")
    #expect(try await console.takeStatus() == nil)
  }

  @Test func theLiveLineFitsTheTerminal() async throws {
    let console = console(Self.terminal)
    try await console.show(status: String(repeating: "한", count: 50))
    let line = errors.text.dropFirst("\u{1B}[2m".count).dropLast("\u{1B}[0m".count)
    #expect(displayWidth(of: line) <= 39)
    #expect(line.hasSuffix("…"))
  }

  @Test func withoutATerminalOnlyNewsIsSaidAndNotTooOften() async throws {
    let console = console()
    try await console.show(status: "connecting to dev1…")
    try await console.show(status: "dev1 is away: reconnecting", isNews: true)
    try await console.show(status: "dev1 is away: still", isNews: true)
    #expect(errors.text == "pocket: dev1 is away: reconnecting\n")
  }

  @Test func withoutColourThereIsNoLiveLineAndNoColour() async throws {
    var facts = Self.terminal
    facts.isLively = false
    let console = console(facts)
    try await console.show(status: "connecting to dev1…")
    try await console.write(Array("\u{1B}[31mred\n".utf8))
    #expect(errors.text.isEmpty)
    #expect(output.text == "red\n")
    #expect(console.style.bold("x") == "x")
  }

  @Test(
    arguments: [
      ([:], true), (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false),
      (["TERM": "xterm"], true),
    ] as [([String: String], Bool)])
  func theEnvironmentTurnsColourOff(_ values: [String: String], _ isLively: Bool) {
    #expect(TerminalFacts.ofThisProcess(Environment(values)).isLively == isLively)
  }

  @Test func columnsOverrulesTheTerminal() {
    #expect(TerminalFacts.ofThisProcess(Environment(["COLUMNS": "33"])).columns == 33)
    #expect(TerminalFacts.ofThisProcess(Environment(["COLUMNS": "no"])).columns > 0)
  }
}

@Suite struct PrintableTests {
  @Test(arguments: [
    ("a\nb\tc\r\nd", "a b c  d"), ("\u{1B}[31mred", "red"), ("\u{1B}]0;x", "␛]0;x"), ("한글", "한글"),
    ("", ""),
  ]) func aLineStaysALine(_ text: String, _ shown: String) {
    #expect(printable(text) == shown)
  }

  @Test(arguments: [
    ("abc", 3), ("한글", 4), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("日本", 4), ("", 0), ("…", 1),
  ]) func widthCountsColumns(_ text: String, _ width: Int) {
    #expect(displayWidth(of: text) == width)
  }

  @Test func whatIsCutEndsWithADots() {
    #expect(fitted("abcdef", to: 6) == "abcdef")
    #expect(fitted("abcdefg", to: 6) == "abcde…")
    #expect(fitted("한글이다", to: 6) == "한글…")
    #expect(fitted("abc", to: 0) == "")
  }
}
