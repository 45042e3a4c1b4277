/// A version of an agent's program: numbers between dots.
public struct AgentVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  private let numbers: [Int]

  /// The first such word of what a program answers to `--version`: `2.1.332 (Claude Code)`,
  /// `codex-cli 0.163.0`. nil when there is none.
  public init?(answer: String) {
    for word in answer.split(separator: " ") {
      let parts = word.drop { $0 == "v" }.split(separator: ".", omittingEmptySubsequences: false)
      let numbers = parts.compactMap { part in Int(part.prefix { ("0"..."9").contains($0) }) }
      if parts.count >= 2, numbers.count == parts.count {
        self.numbers = numbers
        return
      }
    }
    return nil
  }

  init(_ numbers: Int...) { self.numbers = numbers }

  /// The numbers with their dots.
  public var description: String { numbers.map { String($0) }.joined(separator: ".") }

  /// Number by number; a missing one is less than any.
  public static func < (one: AgentVersion, other: AgentVersion) -> Bool {
    one.numbers.lexicographicallyPrecedes(other.numbers)
  }
}
