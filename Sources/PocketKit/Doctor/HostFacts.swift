/// What the script `doctor` told of a host, and what was seen while it did. Nothing is judged here.
struct HostFacts: Sendable {
  /// The facts' values, each key's in the order in which they came.
  private var values: [String: [[String?]]] = [:]
  /// What startup files wrote.
  var noise = ""
  /// From asking for a channel to the script's first line.
  var startup = Duration.zero
  /// How much later it is there than here, in seconds; nil is unknown.
  var clockDifference: Int64?

  init(_ facts: [(key: String, values: [String?])] = []) {
    for fact in facts { note(fact.key, fact.values) }
  }

  mutating func note(_ key: String, _ values: [String?]) {
    self.values[key, default: []].append(values)
  }

  /// A fact's values that are told once; none when it was not told.
  func callAsFunction(_ key: String) -> [String?] { values[key]?.first ?? [] }

  /// All that was told under this key.
  func all(_ key: String) -> [[String?]] { values[key] ?? [] }

  /// All that was told under this key about one name, without the name.
  func all(_ key: String, of name: String) -> [[String?]] {
    all(key).filter { $0.first == name }.map { Array($0.dropFirst()) }
  }

  /// One value as text.
  func text(_ key: String, _ index: Int = 0) -> String? {
    let found = self(key)
    return index < found.count ? found[index] : nil
  }

  /// One value as a number that is not negative.
  func number(_ key: String, _ index: Int = 0) -> Int64? {
    text(key, index).flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
  }
}

extension [String?] {
  /// The value at a place; nil also where there is none.
  func value(_ index: Int) -> String? { index < count ? self[index] : nil }
}
