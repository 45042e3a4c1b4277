/// What the words of one command line mean.
struct Invocation: Sendable {
  /// The words of each option, by its long name, in their order; for a flag an empty word each time.
  var values: [String: [Word]] = [:]
  var positionals: [Word] = []
  /// What followed `--`, untouched; nil without one.
  var command: [Word]?

  /// The option's value.
  subscript<Value>(key: OptionKey<Value>) -> Value { key.read(values[key.spec.long] ?? []) }
}

/// What a command line asks for.
enum Request: Sendable {
  case run(Command, Invocation)
  case help(Command)
  case topic(HelpTopic)
  case version
}

/// A command line that cannot be understood; exit 64.
struct UsageError: Error, Equatable, Sendable {
  /// What is wrong, and with which word.
  let message: String
  /// What may have been meant.
  let hint: String?
  /// The command whose help tells more; nil for the whole program's.
  let command: String?

  init(_ message: String, hint: String? = nil, command: String? = nil) {
    self.message = message
    self.hint = hint
    self.command = command
  }

  /// Where to read more.
  var seeAlso: String { "see 'pocket \(command.map { $0 + " " } ?? "")--help'" }

  /// The first line says what is wrong, the second what to do about it.
  var lines: [String] { [message, hint.map { "\($0) (\(seeAlso))" } ?? seeAlso] }
}
