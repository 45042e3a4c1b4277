/// What the shells' completion stubs ask `pocket __complete -- WORD...`; the last word is the one
/// being typed. Answers come from the command table, and from the store for jobs and hosts.
struct CompletionAnswer: Sendable {
  /// One candidate, and what to say beside it.
  struct Candidate: Equatable, Sendable {
    let word: String
    let note: String
  }

  let table: CommandTable
  let jobs: @Sendable () async -> [Candidate]
  let hosts: @Sendable () async -> [Candidate]

  /// The candidates; none where a file is wanted, for then the shell completes file names itself.
  func candidates(for words: [String]) async -> [Candidate] {
    let (words, splitsAtEquals) = Self.joined(words)
    guard let typed = words.last else { return [] }
    let before = words.dropLast()
    guard let name = before.first else {
      return matching(typed, among: typed.hasPrefix("-") ? options(of: table.root) : verbs())
    }
    if name == "help", before.count == 1 { return matching(typed, among: verbs() + topics()) }
    guard let command = table.command(named: name) else { return [] }

    var positionals: [String] = []
    var pending: OptionSpec?
    for word in before.dropFirst() {
      if pending != nil {
        pending = nil
      } else if word == "--" {
        if command.takesCommand { return [] }
      } else if word.hasPrefix("-"), word != "-" {
        pending = optionWantingValue(word, of: command)
      } else {
        positionals.append(word)
      }
    }
    if let pending { return matching(typed, among: await values(of: pending.completion)) }
    if let equals = typed.firstIndex(of: "="), typed.hasPrefix("--") {
      guard let option = command.option(long: typed[..<equals].dropFirst(2)) else { return [] }
      let prefix = splitsAtEquals ? "" : typed[...equals]
      let found = matching(
        String(typed[typed.index(after: equals)...]), among: await values(of: option.completion))
      return found.map { Candidate(word: prefix + $0.word, note: $0.note) }
    }
    if typed.hasPrefix("-") { return matching(typed, among: options(of: command)) }
    let index = min(positionals.count, command.positionals.count - 1)
    guard index >= 0, let positional = command.positionals[safe: index],
      positionals.count <= index || positional.takesMore
    else { return [] }
    let found = await values(of: positional.completion)
    return matching(typed, among: found).filter { !positionals.contains($0.word) }
  }

  /// bash takes `--host=dev` for three words.
  private static func joined(_ words: [String]) -> (words: [String], splitsAtEquals: Bool) {
    var result: [String] = []
    var splits = false
    for word in words {
      if word == "=", result.last?.hasPrefix("--") == true, result.last?.contains("=") == false {
        result[result.count - 1] += "="
        splits = true
      } else if splits, result.last?.hasSuffix("=") == true {
        result[result.count - 1] += word
      } else {
        splits = false
        result.append(word)
      }
    }
    return (result, splits)
  }

  private func optionWantingValue(_ word: String, of command: Command) -> OptionSpec? {
    let option =
      word.hasPrefix("--")
      ? command.option(long: word.dropFirst(2))
      : word.last.flatMap { command.option(short: $0) }
    return option?.placeholder == nil ? nil : option
  }

  private func values(of completion: Completion) async -> [Candidate] {
    switch completion {
    case .nothing, .file: []
    case .choice(let words), .suggestion(let words): words.map { Candidate(word: $0, note: "") }
    case .host: await hosts()
    case .job: await jobs()
    }
  }

  private func verbs() -> [Candidate] {
    table.commands.filter { !$0.isHidden }.map { Candidate(word: $0.name, note: $0.summary) }
      + [Candidate(word: "help", note: "show the help of a command")]
  }

  private func topics() -> [Candidate] {
    table.topics.map { Candidate(word: $0.name, note: $0.summary) }
  }

  private func options(of command: Command) -> [Candidate] {
    command.options.map { Candidate(word: "--" + $0.long, note: $0.help) }
      + [Candidate(word: "--help", note: "show this page")]
  }

  private func matching(_ typed: String, among candidates: [Candidate]) -> [Candidate] {
    candidates.filter { $0.word.hasPrefix(typed) }
  }
}

extension Array {
  /// The element, or nil outside the array's bounds.
  fileprivate subscript(safe index: Int) -> Element? {
    indices.contains(index) ? self[index] : nil
  }
}
