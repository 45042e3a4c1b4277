/// What an option or a positional argument stands for, so that a shell can complete it.
enum Completion: Sendable, Hashable {
  case nothing, file, host, job
  /// One of these words and no other: the parser checks it.
  case choice([String])
  /// These words are offered, and the command judges.
  case suggestion([String])
}

/// One option as help, completions and the parser see it.
struct OptionSpec: Sendable {
  let long: String
  let short: Character?
  /// What stands for the value in help, as `HOST`; nil for a flag.
  let placeholder: String?
  let repeats: Bool
  let completion: Completion
  let help: String
}

/// A typed handle on an option: reading it from an `Invocation` gives a `Value`.
struct OptionKey<Value: Sendable>: Sendable {
  let spec: OptionSpec
  /// Makes the value of the words that were given, in their order; none when the option was not.
  let read: @Sendable ([Word]) -> Value
}

extension OptionKey where Value == Bool {
  static func flag(_ long: String, _ short: Character? = nil, _ help: String) -> Self {
    OptionKey(
      spec: OptionSpec(
        long: long, short: short, placeholder: nil, repeats: true, completion: .nothing, help: help)
    ) { !$0.isEmpty }
  }
}

extension OptionKey where Value == Word? {
  static func value(
    _ long: String, _ short: Character? = nil, _ placeholder: String,
    completion: Completion = .nothing, _ help: String
  ) -> Self {
    OptionKey(
      spec: OptionSpec(
        long: long, short: short, placeholder: placeholder, repeats: false, completion: completion,
        help: help)
    ) { $0.last }
  }
}

extension OptionKey where Value == [Word] {
  static func list(
    _ long: String, _ short: Character? = nil, _ placeholder: String,
    completion: Completion = .nothing, _ help: String
  ) -> Self {
    OptionKey(
      spec: OptionSpec(
        long: long, short: short, placeholder: placeholder, repeats: true, completion: completion,
        help: help)
    ) { $0 }
  }
}

extension OptionKey {
  /// One of a few words; the parser has checked that it is one of them.
  static func choice<Choice>(_ long: String, _ help: String) -> Self
  where
    Value == Choice?, Choice: CaseIterable & RawRepresentable & Sendable,
    Choice.RawValue == String
  {
    let words = Choice.allCases.map(\.rawValue)
    return OptionKey(
      spec: OptionSpec(
        long: long, short: nil, placeholder: words.joined(separator: "|"), repeats: false,
        completion: .choice(words), help: help)
    ) { $0.last.flatMap { Choice(rawValue: $0.shown) } }
  }
}
