import Testing

@testable import pocket

/// Design invariant 9: what a job prints cannot drive the user's terminal beyond colour.
@Suite struct TerminalSanitizerTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let input: [UInt8]
    let output: String
    var testDescription: String { name }

    init(_ name: String, _ input: [UInt8], _ output: String) {
      self.name = name
      self.input = input
      self.output = output
    }
    init(_ name: String, _ input: String, _ output: String) {
      self.init(name, Array(input.utf8), output)
    }
  }

  static let cases = [
    Case("plain text", "hello\n\tworld\n", "hello\n\tworld\n"),
    Case("Korean and emoji", "안녕하세요 👩‍👩‍👧 e\u{301}\n", "안녕하세요 👩‍👩‍👧 e\u{301}\n"),
    Case("colour", "\u{1B}[1;31mred\u{1B}[0m", "\u{1B}[1;31mred\u{1B}[0m"),
    Case("24-bit colour with colons", "\u{1B}[38:2::1:2:3mx", "\u{1B}[38:2::1:2:3mx"),
    Case("colour without parameters", "\u{1B}[mx", "\u{1B}[mx"),
    Case("window title (OSC, BEL)", "\u{1B}]0;evil\u{7}x", "␛]0;evil␇x"),
    Case("clipboard (OSC 52, ST)", "\u{1B}]52;c;aGk=\u{1B}\\x", "␛]52;c;aGk=␛\\x"),
    Case("OSC without an end hides nothing", "\u{1B}]0;text\nmore\n", "␛]0;text\nmore\n"),
    Case("DCS", "\u{1B}P1$qm\u{1B}\\", "␛P1$qm␛\\"),
    Case("APC", "\u{1B}_Gf=1\u{1B}\\", "␛_Gf=1␛\\"),
    Case("PM and SOS", "\u{1B}^a\u{1B}Xb", "␛^a␛Xb"),
    Case("cursor and erase", "\u{1B}[2J\u{1B}[1;1H\u{1B}[K", "␛[2J␛[1;1H␛[K"),
    Case("private modes", "\u{1B}[?1049h\u{1B}[?25l", "␛[?1049h␛[?25l"),
    Case("modifyOtherKeys ends in m and is no colour", "\u{1B}[>4;2m", "␛[>4;2m"),
    Case("private m", "\u{1B}[?4m", "␛[?4m"),
    Case("intermediate byte", "\u{1B}[1 m", "␛[1 m"),
    Case("report request", "\u{1B}[6n\u{1B}[c", "␛[6n␛[c"),
    Case("reset (RIS), charset, keypad", "\u{1B}c\u{1B}(0\u{1B}=", "␛c␛(0␛="),
    Case("escape of an escape", "\u{1B}\u{1B}[31m", "␛\u{1B}[31m"),
    Case("sequence inside a sequence", "\u{1B}[3\u{1B}[31mx", "␛[3\u{1B}[31mx"),
    Case("line feed in a sequence", "\u{1B}[3\n1m", "␛[3\n1m"),
    Case("cancel in a sequence", "\u{1B}[3\u{18}1m", "␛[3␘1m"),
    Case("C1 CSI as UTF-8", "\u{9B}2Jx", "\u{FFFD}2Jx"),
    Case("C1 OSC, DCS, NEL as UTF-8", "\u{9D}0;\u{90}\u{85}", "\u{FFFD}0;\u{FFFD}\u{FFFD}"),
    Case("C1 CSI as a byte", [0x9B, 0x32, 0x4A], "\u{FFFD}2J"),
    Case(
      "all C0 but tab, line feed, escape and CR", Array(0...8) + [11, 12] + Array(14...26),
      "␀␁␂␃␄␅␆␇␈␋␌␎␏␐␑␒␓␔␕␖␗␘␙␚"),
    Case("DEL", [0x41, 0x7F], "A␡"),
    Case("CR before LF", "a\r\nb", "a\r\nb"),
    Case("CR alone hides nothing", "secret\rhidden\n", "secret\nhidden\n"),
    Case("CR CR LF", "a\r\r\n", "a\n\r\n"),
    Case("CR at the end", "a\r", "a\n"),
    Case("CR before a colour", "a\r\u{1B}[31mb", "a\n\u{1B}[31mb"),
    Case("escape at the end", "a\u{1B}", "a␛"),
    Case("sequence at the end", "a\u{1B}[31", "a␛[31"),
    Case("a character cut off at the end", [0x61, 0xED, 0x95], "a\u{FFFD}"),
    Case("a character cut off by ASCII", [0xED, 0x95, 0x61], "\u{FFFD}a"),
    Case(
      "a character cut off by an escape", [0xED, 0x95] + Array("\u{1B}[2J".utf8), "\u{FFFD}␛[2J"),
    Case("overlong", [0xC0, 0x9B, 0xE0, 0x82, 0x9B], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    Case(
      "overlong C1 in four bytes", [0xF0, 0x80, 0x82, 0x9B], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    Case("surrogate", [0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
    Case(
      "beyond Unicode", [0xF4, 0x90, 0x80, 0x80, 0xF5], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    Case("stray continuation", [0x61, 0x80, 0xBF, 0x62], "a\u{FFFD}\u{FFFD}b"),
    Case("U+2028 is text", "a\u{2028}b", "a\u{2028}b"),
    Case("U+00A0 is no control", "a\u{A0}b", "a\u{A0}b"),
  ]

  @Test(arguments: cases) func shownSafely(_ test: Case) {
    var sanitizer = TerminalSanitizer(allowsColour: true)
    let output = sanitizer.sanitize(test.input) + sanitizer.finish()
    #expect(String(decoding: output, as: UTF8.self) == test.output)
    #expect(String(validating: output, as: UTF8.self) != nil)
  }

  @Test(arguments: cases) func theSameWhereverTheChunksAreCut(_ test: Case) {
    for cut in 0...test.input.count {
      var sanitizer = TerminalSanitizer(allowsColour: true)
      var output = sanitizer.sanitize(test.input[..<cut])
      output += sanitizer.sanitize(test.input[cut...])
      output += sanitizer.finish()
      #expect(String(decoding: output, as: UTF8.self) == test.output, "cut at \(cut)")
    }
    var sanitizer = TerminalSanitizer(allowsColour: true)
    var output = test.input.flatMap { sanitizer.sanitize([$0]) }
    output += sanitizer.finish()
    #expect(String(decoding: output, as: UTF8.self) == test.output, "byte by byte")
  }

  @Test func nothingButColourComesThroughWhateverTheBytes() {
    var generator = SystemRandomNumberGenerator()
    let alphabet: [UInt8] = [
      0x1B, 0x5B, 0x5D, 0x6D, 0x3B, 0x3F, 0x31, 0x07, 0x0D, 0x0A, 0xC2, 0x9B, 0x50, 0xED, 0x95,
      0x9C,
    ]
    for _ in 0..<20_000 {
      let input = (0..<12).map { _ in alphabet.randomElement(using: &generator) ?? 0x1B }
      var sanitizer = TerminalSanitizer(allowsColour: true)
      let output = sanitizer.sanitize(input) + sanitizer.finish()
      #expect(Self.isHarmless(output), "\(input)")
    }
  }

  /// A check of its own making: text without controls, and ESC only as the start of a whole SGR.
  static func isHarmless(_ output: [UInt8]) -> Bool {
    guard let text = String(validating: output, as: UTF8.self) else { return false }
    var rest = Array(text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar.value {
      case 0x0A, 0x09, 0x20...0x7E, 0xA0...: continue
      case 0x0D:
        if rest.first?.value != 0x0A { return false }
      case 0x1B:
        guard rest.popFirst()?.value == 0x5B else { return false }
        while let next = rest.first, (0x30...0x3B).contains(next.value) { rest.removeFirst() }
        guard rest.popFirst()?.value == 0x6D else { return false }
      default: return false
      }
    }
    return true
  }

  @Test func withoutColourOnlyTextIsLeft() {
    var sanitizer = TerminalSanitizer(allowsColour: false)
    let output = sanitizer.sanitize(Array("\u{1B}[31mred\u{1B}[0m\u{1B}[2J".utf8))
    #expect(String(decoding: output, as: UTF8.self) == "red␛[2J")
  }

  @Test func anEndlessSequenceIsNotHeldBackForEver() {
    var sanitizer = TerminalSanitizer(allowsColour: true)
    let output = sanitizer.sanitize(Array("\u{1B}[".utf8) + [UInt8](repeating: 0x31, count: 1000))
    #expect(output.count > 900)
  }

  @Test func itKnowsWhetherAColourIsOn() {
    var sanitizer = TerminalSanitizer(allowsColour: true)
    _ = sanitizer.sanitize(Array("\u{1B}[31mred".utf8))
    #expect(sanitizer.isColoured)
    _ = sanitizer.sanitize(Array("\u{1B}[m".utf8))
    #expect(!sanitizer.isColoured)
  }
}
