/// What came of one row with one client.
enum Cell: Sendable, Equatable {
  case passed
  /// libssh2 could not, and `ssh` went on.
  case passedBySSH
  /// The error's class (`phase, kind`), and what it says libssh2 cannot do.
  case failed(String, beyondLibSSH2: String?)
  /// The `ssh` program failed, whose words have no class.
  case failedInSSH
  /// Connected, and then something came out wrong; or no error came in time.
  case wrong(String)
  case notTried(String)

  var didPass: Bool { self == .passed || self == .passedBySSH }
}

/// In the table and in the file of results alike.
extension Cell: LosslessStringConvertible {
  var description: String {
    switch self {
    case .passed: "yes"
    case .passedBySSH: "yes, by ssh"
    case .failedInSSH: "no"
    case .failed(let kind, nil): "no: \(kind)"
    case .failed(let kind, let beyond?): "no: \(kind) (\(beyond))"
    case .wrong(let what): "WRONG: \(what)"
    case .notTried(let why): "not tried: \(why)"
    }
  }

  init?(_ text: String) {
    func rest(_ start: String) -> String? {
      text.hasPrefix(start) ? String(text.dropFirst(start.count)) : nil
    }
    if text == "yes" {
      self = .passed
    } else if text == "yes, by ssh" {
      self = .passedBySSH
    } else if text == "no" {
      self = .failedInSSH
    } else if let words = rest("WRONG: ") {
      self = .wrong(words)
    } else if let words = rest("not tried: ") {
      self = .notTried(words)
    } else if let words = rest("no: ") {
      let parts = words.split(separator: " (", maxSplits: 1)
      guard let kind = parts.first else { return nil }
      let beyond = parts.dropFirst().first.map { String($0.dropLast()) }
      self = .failed(String(kind), beyondLibSSH2: beyond)
    } else {
      return nil
    }
  }
}
