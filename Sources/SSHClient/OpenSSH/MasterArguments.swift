/// The command lines of the master, of its channels, and of the question whether it lives.
struct MasterArguments: Sendable {
  let host: HostName
  let program: SSHProgram
  let settings: ConfigurationValues
  let configurationFile: String?
  let acceptsNewHostKeys: Bool
  /// Whether ssh may ask: a passphrase, a PIN, a host key.
  let mayAsk: Bool
  /// Whether the server has been too slow at the login for a link that is watched closely.
  var isPatient = false

  /// Keeps the program in the foreground of a session whose leader it is, and ends all of it when
  /// the other end of stdin goes, however we die. `-N` by itself would live on for ever: it reads
  /// nothing. A process in the group keeps the group's number ours as long as it waits.
  private static let watched = """
    exec 3<&0
    { read -r _ <&3; trap '' TERM; kill -TERM 0; sleep 1; rm -rf -- "$0"; kill -KILL 0; } \
    >/dev/null 2>&1 &
    exec "$@" </dev/null 3<&-
    """

  /// A connection without a command that serves the socket in `folder`.
  func master(_ folder: ControlFolder) -> [String] {
    ["sh", "-c", Self.watched, folder.path, "ssh", "-M", "-N", "-T", "-S", folder.socket]
      + masterOptions.flatMap { ["-o", "\($0.0)=\($0.1)"] }
      + host.sshArguments(file: configurationFile)
  }

  /// A command over the master. It reads no configuration file, so that nothing in it (Match exec,
  /// RemoteCommand, LocalForward) can act a second time; and without its master it must not go and
  /// connect by itself, as `ssh` would.
  func channel(_ folder: ControlFolder, log: String, _ command: String) -> [String] {
    control(folder, file: "\(folder.path)/\(Self.environmentFile)")
      + ["-T", "-E", "\(folder.path)/\(log)", "-o", "LogLevel=DEBUG2", "--", host.name, command]
  }

  /// Where a channel reads `environment`.
  static let environmentFile = "environment"

  /// What the configuration wants commands to find in their environment, as a configuration. Not on
  /// the command line: a value may be a secret, and everybody can see what runs.
  var environment: String {
    // `ssh -G` drops the quotes that a space needs.
    let variables = settings.all("setenv").map { variable in
      let escaped = variable.map { "\"\\".contains($0) ? "\\\($0)" : String($0) }.joined()
      return "\"\(escaped)\""
    }
    // In one line, since of several only the first would count.
    let set = variables.isEmpty ? [] : ["SetEnv \(variables.joined(separator: " "))"]
    return (settings.all("sendenv").map { "SendEnv \($0)" } + set).map { $0 + "\n" }.joined()
  }

  /// What ssh calls the host when it asks about its key.
  var shownName: String {
    KnownHostName(
      host: settings["hostname"] ?? host.name,
      port: settings["port"].flatMap(UInt16.init) ?? 22, alias: settings["hostkeyalias"]
    ).primary
  }

  /// Ends with 0 when the master answers.
  func check(_ folder: ControlFolder) -> [String] {
    control(folder) + ["-O", "check", "--", host.name]
  }

  private func control(_ folder: ControlFolder, file: String = "/dev/null") -> [String] {
    [
      "ssh", "-F", file, "-S", folder.socket, "-o", "BatchMode=yes",
      "-o", "ProxyCommand=false", "-o", "IdentityFile=none",
    ]
  }

  /// What must be so whatever the configuration says: the first value of an option counts.
  private var masterOptions: [(String, String)] {
    var options = [
      ("ControlPersist", "no"), ("LogLevel", "DEBUG1"), ("BatchMode", mayAsk ? "no" : "yes"),
      ("ClearAllForwardings", "yes"), ("ForwardAgent", "no"), ("ForwardX11", "no"),
      ("Tunnel", "no"), ("PermitLocalCommand", "no"), ("EscapeChar", "none"),
    ]
    if program.isAtLeast(7, 6) { options.append(("RemoteCommand", "none")) }
    if program.isAtLeast(8, 7) { options.append(("ForkAfterAuthentication", "no")) }
    // 0 is for never, as where it is not set.
    if settings.number("connecttimeout") ?? 0 <= 0 {
      options.append(("ConnectTimeout", "15"))
    }
    if let strictness { options.append(("StrictHostKeyChecking", strictness)) }
    if isPatient {
      options += [("ServerAliveInterval", "5"), ("ServerAliveCountMax", "12")]
    } else if !noticesDeadLinks {
      // Four times two seconds without a word: as with libssh2, a dead link shows after 8 s.
      options += [("ServerAliveInterval", "2"), ("ServerAliveCountMax", "3")]
    }
    return options
  }

  /// The same for a server that is slow to let somebody in; nil where no more patience is ours to
  /// give. ssh itself takes ServerAliveInterval times ServerAliveCountMax for the longest silence
  /// before the login too, where a server may be asking a directory or somebody's telephone.
  var withPatience: MasterArguments? {
    if isPatient || noticesDeadLinks { return nil }
    var arguments = self
    arguments.isPatient = true
    return arguments
  }

  /// With `no` OpenSSH connects even to a host whose key has changed; that is never done here. nil
  /// leaves it to the configuration.
  private var strictness: String? {
    let acceptNew = program.isAtLeast(7, 6) ? "accept-new" : "yes"
    switch settings["stricthostkeychecking"] {
    case "no", "false", "off": return acceptNew
    case "yes", "true": return nil
    default: return acceptsNewHostKeys ? acceptNew : nil
    }
  }

  /// Whether the user's own configuration is at least as strict about silence.
  private var noticesDeadLinks: Bool {
    guard let interval = settings.number("serveraliveinterval"),
      let count = settings.number("serveralivecountmax")
    else { return false }
    return interval > 0 && interval * (count + 1) <= 8
  }
}
