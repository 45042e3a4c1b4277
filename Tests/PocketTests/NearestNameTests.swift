import Testing

@testable import pocket

@Suite struct NearestNameTests {
  static let names = ["run", "resume", "cancel", "ls", "show", "logs", "completions"]

  @Test(arguments: [
    ("rnu", "run"), ("resum", "resume"), ("resmue", "resume"), ("cancle", "cancel"), ("lsl", "ls"),
    ("shwo", "show"), ("comp", "completions"), ("log", "logs"),
  ]) func aTypoFindsItsName(_ word: String, _ name: String) {
    #expect(nearest(to: word, among: Self.names) == name)
  }

  @Test(arguments: ["", "x", "zzzzzz", "start", String(repeating: "run", count: 100_000)])
  func whatIsNearNothingFindsNothing(_ word: String) {
    #expect(nearest(to: word, among: Self.names) == nil)
  }
}
