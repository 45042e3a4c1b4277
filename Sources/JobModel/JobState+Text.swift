/// A short text of one line that is kept in the store and in JSON: it never changes its meaning, and
/// words are only added. What may hold spaces comes last.
extension JobState: LosslessStringConvertible {
  /// The text.
  public var description: String {
    switch self {
    case .launching: "launching"
    case .running: "running"
    case .finished(let status): "finished \(status)"
    case .cancelled(nil): "cancelled"
    case .cancelled(let record?): "cancelled \(record)"
    case .lost(let reason): "lost \(reason.rawValue)"
    case .elsewhere(let machine): "elsewhere \(machine)"
    case .unreachable(let since, let lastKnown): "unreachable \(since) \(lastKnown)"
    case .neverStarted(.removed): "neverStarted removed"
    case .neverStarted(.refused(let reason, let words)):
      "neverStarted refused \(reason?.rawValue ?? "-") \(words)"
    case .neverStarted(.notLaunched(let words)): "neverStarted notLaunched \(words)"
    }
  }

  /// Reads the text back; nil when it is none of these.
  public init?(_ description: String) {
    let (word, rest) = Self.firstWord(of: description[...])
    let parsed: JobState? =
      switch (word, rest) {
      case ("launching", nil): .launching
      case ("running", nil): .running
      case ("finished", let rest?): ExitStatus(String(rest)).map { .finished($0) }
      case ("cancelled", nil): .cancelled(nil)
      case ("cancelled", let rest?): ExitRecord(rest).map { .cancelled($0) }
      case ("lost", let rest?): LostReason(stored: rest).map { .lost($0) }
      case ("elsewhere", let rest?): .elsewhere(machine: String(rest))
      case ("unreachable", let rest?): Self.unreachable(rest)
      case ("neverStarted", let rest?): NeverStartedReason(rest).map { .neverStarted($0) }
      default: nil
      }
    guard let parsed else { return nil }
    self = parsed
  }

  private static func unreachable(_ text: Substring) -> JobState? {
    let (since, rest) = firstWord(of: text)
    guard let since = Int64(since), let rest, let last = JobState(String(rest)) else { return nil }
    return .unreachable(since: since, lastKnown: last)
  }

  /// The text up to the first space, and what is behind it; nil when there is no space.
  static func firstWord(of text: Substring) -> (Substring, Substring?) {
    guard let space = text.utf8.firstIndex(of: 0x20) else { return (text, nil) }
    return (text[..<space], text[text.utf8.index(after: space)...])
  }
}

extension LostReason {
  fileprivate init?(stored word: Substring) {
    // What was stored before the causes were told apart.
    self.init(rawValue: word == "supervisorGone" ? "killed" : String(word))
  }
}

extension NeverStartedReason {
  fileprivate init?(_ text: Substring) {
    let (word, rest) = JobState.firstWord(of: text)
    switch (word, rest) {
    case ("removed", nil): self = .removed
    case ("notLaunched", let words?): self = .notLaunched(String(words))
    case ("refused", let rest?):
      let (reason, words) = JobState.firstWord(of: rest)
      let known = RefusalReason(rawValue: String(reason))
      guard let words, known != nil || reason == "-" else { return nil }
      self = .refused(known, words: String(words))
    default: return nil
    }
  }
}

/// `code 0`, `signal 9`, `unknown 137`: part of a state's text.
extension ExitStatus: LosslessStringConvertible {
  /// The text.
  public var description: String {
    switch self {
    case .code(let code): "code \(code)"
    case .signal(let signal): "signal \(signal)"
    case .unknown(let number): "unknown \(number)"
    }
  }

  /// Reads the text back; nil when it is none of these.
  public init?(_ description: String) {
    let (word, rest) = JobState.firstWord(of: description[...])
    guard let number = rest.flatMap({ Int($0) }), (0...255).contains(number) else { return nil }
    switch word {
    case "code": self = .code(number)
    case "signal": self = .signal(number)
    case "unknown": self = .unknown(number)
    default: return nil
    }
  }
}
