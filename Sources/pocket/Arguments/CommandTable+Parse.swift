extension CommandTable {
  /// Reads a command line (without the program's name). Pure: it prints nothing, asks nothing of
  /// the environment, and does not end the process.
  ///
  /// An option may stand before or after positional words; `--a=b`, `--a b`, `-a b`, `-ab` (a value
  /// stuck to its letter, or two flags) are understood; what follows `--` is not looked at.
  ///
  /// - Throws: `UsageError`.
  func parse(_ words: [Word]) throws(UsageError) -> Request {
    var words = words[...]
    guard let first = words.first, first.bytes.first != UInt8(ascii: "-") else {
      return try Reading(command: root, isRoot: true).read(words)
    }
    words.removeFirst()
    if first.shown == "help" { return try help(about: Array(words)) }
    guard let command = command(named: first.shown) else { throw unknownCommand(first) }
    return try Reading(command: command, isRoot: false).read(words)
  }

  private func help(about words: [Word]) throws(UsageError) -> Request {
    guard let word = words.first(where: { $0.bytes.first != UInt8(ascii: "-") }) else {
      return .help(root)
    }
    if let command = command(named: word.shown) { return .help(command) }
    if let topic = topic(named: word.shown) { return .topic(topic) }
    throw unknownCommand(word)
  }

  private func unknownCommand(_ word: Word) -> UsageError {
    let names = commands.filter { !$0.isHidden }.map(\.name) + ["help"]
    let near = nearest(to: word.shown, among: names)
    return UsageError(
      "there is no command '\(printable(word.shown))'",
      hint: near.map { "did you mean 'pocket \($0)'?" }
        ?? (word.bytes.contains(UInt8(ascii: " "))
          ? "to give an agent a prompt: pocket run \"...\"" : nil))
  }
}

/// The reading of one command's words.
private struct Reading {
  let command: Command
  let isRoot: Bool
  var invocation = Invocation()
  var asksHelp = false
  var asksVersion = false

  init(command: Command, isRoot: Bool) {
    self.command = command
    self.isRoot = isRoot
  }

  consuming func read(_ words: ArraySlice<Word>) throws(UsageError) -> Request {
    var rest = words
    while let word = rest.popFirst() {
      let bytes = word.bytes
      if bytes == Array("--".utf8) {
        try takeRest(Array(rest))
        break
      }
      guard bytes.count > 1, bytes[0] == UInt8(ascii: "-") else {
        invocation.positionals.append(word)
        continue
      }
      if bytes[1] == UInt8(ascii: "-") {
        try takeLong(Word(Array(bytes.dropFirst(2))), &rest)
      } else {
        try takeShort(bytes.dropFirst(), &rest)
      }
    }
    // Help first: someone who asks for it while a word is still missing must get it.
    if asksHelp { return .help(command) }
    if asksVersion { return .version }
    try checkCount()
    return .run(command, invocation)
  }

  private mutating func takeRest(_ rest: [Word]) throws(UsageError) {
    guard command.takesCommand else {
      invocation.positionals += rest
      return
    }
    guard !rest.isEmpty else { throw usage("no command follows '--'") }
    invocation.command = rest
  }

  private mutating func takeLong(_ word: Word, _ rest: inout ArraySlice<Word>) throws(UsageError) {
    let parts = word.bytes.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(decoding: parts[0], as: UTF8.self)
    let attached = parts.count == 2 ? Word(Array(parts[1])) : nil
    if name == "help" || (name == "version" && isRoot) {
      guard attached == nil else { throw usage("'--\(name)' takes no value") }
      if name == "help" { asksHelp = true } else { asksVersion = true }
      return
    }
    guard let option = command.option(long: name) else { throw unknownOption("--" + name) }
    if option.placeholder == nil {
      guard attached == nil else { throw usage("'--\(name)' takes no value") }
      try put(Word([]), for: option, as: "--" + name)
    } else if let value = attached ?? rest.popFirst() {
      try put(value, for: option, as: "--" + name)
    } else {
      throw missingValue(option, "--" + name)
    }
  }

  /// Letters of flags, of which the last may take a value: the rest of the word, or the next word.
  private mutating func takeShort(
    _ bytes: ArraySlice<UInt8>, _ rest: inout ArraySlice<Word>
  ) throws(UsageError) {
    var bytes = bytes
    while let byte = bytes.popFirst() {
      let letter = Character(Unicode.Scalar(byte))
      if letter == "h" {
        asksHelp = true
        continue
      }
      guard byte < 0x80, let option = command.option(short: letter) else {
        throw unknownOption(byte < 0x80 ? "-\(letter)" : "-" + Word(Array([byte] + bytes)).shown)
      }
      guard option.placeholder != nil else {
        try put(Word([]), for: option, as: "-\(letter)")
        continue
      }
      if !bytes.isEmpty {
        try put(Word(Array(bytes)), for: option, as: "-\(letter)")
      } else if let value = rest.popFirst() {
        try put(value, for: option, as: "-\(letter)")
      } else {
        throw missingValue(option, "-\(letter)")
      }
      return
    }
  }

  private mutating func put(_ word: Word, for option: OptionSpec, as written: String)
    throws(UsageError)
  {
    if case .choice(let words) = option.completion, !words.contains(word.shown) {
      throw usage(
        "'\(printable(word.shown))' is no value of '\(written)'",
        hint: nearest(to: word.shown, among: words).map { "did you mean '\($0)'?" }
          ?? "it is one of \(words.joined(separator: ", "))")
    }
    if !option.repeats, invocation.values[option.long] != nil {
      throw usage("'\(written)' was given twice")
    }
    invocation.values[option.long, default: []].append(word)
  }

  private func checkCount() throws(UsageError) {
    let given = invocation.positionals
    // With `-- COMMAND` there is nothing else to say what is to run.
    let wanted = invocation.command == nil ? command.positionals : []
    if given.count < wanted.count, ![.optional, .any].contains(wanted[given.count].count) {
      throw usage("\(wanted[given.count].name) is missing")
    }
    if given.count > wanted.count, wanted.last?.takesMore != true {
      throw usage(
        "'\(printable(given[wanted.count].shown))' is one word too many",
        hint: invocation.command == nil ? command.tooManyHint : "after '--' comes the whole command"
      )
    }
  }

  private func usage(_ message: String, hint: String? = nil) -> UsageError {
    UsageError(message, hint: hint, command: isRoot ? nil : command.name)
  }

  private func missingValue(_ option: OptionSpec, _ written: String) -> UsageError {
    usage("'\(written)' needs a value, \(option.placeholder ?? "")")
  }

  private func unknownOption(_ written: String) -> UsageError {
    let known = command.options.map { "--" + $0.long } + ["--help"]
    return usage(
      "\(isRoot ? "pocket" : command.name) has no option '\(printable(written))'",
      hint: nearest(to: written, among: known).map { "did you mean '\($0)'?" })
  }
}
