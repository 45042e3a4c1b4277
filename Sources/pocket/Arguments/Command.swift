/// A positional argument of a command.
struct Positional: Sendable {
  enum Count: Sendable { case optional, one, oneOrMore, any }

  let name: String
  let count: Count
  let completion: Completion

  /// Whether several words may stand for it.
  var takesMore: Bool { count == .oneOrMore || count == .any }

  init(_ name: String, _ count: Count, _ completion: Completion = .nothing) {
    self.name = name
    self.count = count
    self.completion = completion
  }
}

/// A line that a user could type, and what it does.
struct Example: Sendable {
  let line: String
  let note: String

  init(_ line: String, _ note: String = "") {
    self.line = line
    self.note = note
  }
}

/// One verb of the command line. Parsing, help and completions all read this value, so that none
/// of them can know an option that the others do not.
struct Command: Sendable {
  let name: String
  /// One line for the list of commands.
  let summary: String
  let examples: [Example]
  /// The usage lines, when the positionals do not tell the whole.
  let usage: [String]
  let positionals: [Positional]
  let options: [OptionSpec]
  /// Whether `-- COMMAND...` may follow.
  let takesCommand: Bool
  /// What to say when there are more words than positionals.
  let tooManyHint: String?
  /// Paragraphs at the end of the help page.
  let notes: [String]
  /// Whether the list of commands leaves it out.
  let isHidden: Bool
  let run: @Sendable (Invocation, CommandContext) async throws -> ExitCode

  init(
    _ name: String, summary: String, examples: [Example] = [], usage: [String] = [],
    positionals: [Positional] = [], options: [OptionSpec] = [], takesCommand: Bool = false,
    tooManyHint: String? = nil, notes: [String] = [], isHidden: Bool = false,
    run: @escaping @Sendable (Invocation, CommandContext) async throws -> ExitCode
  ) {
    self.name = name
    self.summary = summary
    self.examples = examples
    self.usage = usage
    self.positionals = positionals
    self.options = options
    self.takesCommand = takesCommand
    self.tooManyHint = tooManyHint
    self.notes = notes
    self.isHidden = isHidden
    self.run = run
  }

  /// The option of this long name.
  func option(long name: some StringProtocol) -> OptionSpec? { options.first { $0.long == name } }
  /// The option of this letter.
  func option(short letter: Character) -> OptionSpec? { options.first { $0.short == letter } }
}

/// A page of help that belongs to no command.
struct HelpTopic: Sendable {
  let name: String
  let summary: String
  let text: String
}

/// All that the program can be asked to do.
struct CommandTable: Sendable {
  /// What runs when no command is named.
  let root: Command
  let commands: [Command]
  let topics: [HelpTopic]

  func command(named name: some StringProtocol) -> Command? { commands.first { $0.name == name } }
  func topic(named name: some StringProtocol) -> HelpTopic? { topics.first { $0.name == name } }
}
