import TestSupport

/// One row of the matrix: a server, a way to log in, something to do there, and what is to come of
/// it where `ssh` too fails.
struct Case: Sendable {
  var name: String
  var login = Login.key(.ed25519, .plain, .file)
  /// Lines for sshd_config. `{folder}` is the row's own folder.
  var server: [String] = []
  /// Lines for the host's block of ssh_config; `{folder}` too.
  var client: [String] = []
  /// Files of the row's own folder.
  var files: [String: String] = [:]
  var hostKeys: [KeyKind] = [.ed25519]
  var hasSFTP = true
  /// What `HostName` says; the server listens on 127.0.0.1 unless this is `::1`.
  var address = "127.0.0.1"
  var front = Front.none
  var style = Style.host
  var work = Work()
  /// The class of error, `phase, kind` of `SSHError`, where nobody can connect.
  var failure = "authentication, authenticationRefused"
  /// Also right for the openssh engine, which may hear less from its program.
  var failureBySSH: String?

  init(_ name: String, _ change: (inout Case) -> Void = { _ in }) {
    self.name = name
    change(&self)
  }

  /// What stands between the client and the server, or in its place.
  enum Front: Sendable {
    case none
    /// No SSH server at all.
    case plain(PlainServer.Behaviour)
    /// Lines of text come before the server's version.
    case linesBeforeVersion
    /// Somebody else holds a connection that has not logged in.
    case otherConnection
    /// Two more servers, each with a key of its own that the others do not take.
    case twoJumps
  }

  /// How the host stands in ssh_config.
  enum Style: Sendable {
    case host, include, matchExec
  }

  /// What is done on a connection, and what it must give.
  struct Work: Sendable {
    var command = "echo hello; exit 3"
    /// How many zero bytes the command gets on its standard input.
    var inputBytes = 0
    var output = Array("hello\n".utf8)
    var code = 3
    /// All that is done must be over by then, or it failed late.
    var deadline = Duration.seconds(40)
  }
}

/// A way to log in.
enum Login: Sendable {
  case key(KeyKind, KeyFormat, Holder)
  case certificate(KeyKind, Holder)
  case securityKey(KeyKind, Holder)
  case password
  case keyboardInteractive
  case keyThenPassword

  /// Where the client has its private key.
  enum Holder: String, Sendable, CaseIterable {
    case file, agent
  }

  var needsPassword: Bool {
    switch self {
    case .password, .keyboardInteractive, .keyThenPassword: true
    case .key, .certificate, .securityKey: false
    }
  }
}
