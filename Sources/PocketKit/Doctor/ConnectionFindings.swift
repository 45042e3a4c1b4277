import SSHClient

extension ConnectionDescription {
  /// What is to be said of a connection that was made.
  var findings: [Finding] {
    let server = serverSoftware.map { ", \($0)" } ?? ""
    return [
      way.map { Finding("address", .ok, $0 + server) }
        ?? .unknown("address", "\(engine) does not tell it\(server)"),
      hostKey.map { Finding("host key", .ok, "\($0), as known here") }
        ?? .unknown("host key", "\(engine) does not tell it; it was checked"),
      algorithms, login,
    ]
  }

  private var algorithms: Finding {
    guard let keyExchange, let cipher else {
      return .unknown("algorithms", "\(engine) does not tell them")
    }
    let words = [keyExchange, cipher] + (mac.map { [$0] } ?? [])
    return Finding("algorithms", .ok, words.joined(separator: ", ") + " (by \(engine))")
  }

  private var login: Finding {
    let name = user.map { "as \($0)" } ?? "as a user that \(engine) does not tell"
    guard let authentication else { return Finding("login", .ok, "\(name), by what is unknown") }
    guard !authentication.isEmpty else {
      return Finding(
        "login", .warning, "\(name), and the server asked for nothing",
        remedy: "see PermitEmptyPasswords and AuthenticationMethods in its sshd_config")
    }
    return Finding("login", .ok, "\(name), by \(authentication.joined(separator: ", then "))")
  }
}

/// How many channels a server opens at once on one connection (sshd_config(5), MaxSessions).
struct ChannelCount: Sendable, Equatable {
  var open: Int
  /// Whether the server opens no more.
  var isLimit: Bool

  /// As many as Pocket never needs on one connection.
  static let enough = 12

  var finding: Finding {
    guard isLimit else {
      return Finding("channels", .ok, "at least \(open) on one connection (MaxSessions)")
    }
    guard open > 1 else {
      return Finding(
        "channels", .warning,
        "\(open) on one connection (MaxSessions): each job that is followed needs its own",
        remedy: "raise MaxSessions in the server's sshd_config; 10 is the default")
    }
    return Finding("channels", .ok, "\(open) on one connection (MaxSessions)")
  }
}
