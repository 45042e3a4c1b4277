import SSHClient

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where jobs run, what runs them and how they are reached, as far as it was said. A flag wins over the environment, that
/// over the project's file, and that over the user's own.
struct Settings: Equatable, Sendable {
  private(set) var host: String?
  private(set) var agent: String?
  /// The ssh_config to use in place of the user's; a path.
  private(set) var sshConfig: String?
  /// What carries the connection.
  private(set) var transport = EngineChoice.auto

  /// What was given on the command line.
  struct Flags: Sendable {
    var host: String?
    var agent: String?
    var sshConfig: String?
    var transport: String?
  }

  /// Looks at the environment and the two files.
  ///
  /// - Throws: `CommandError` when a file cannot be used, or is the user's real one in a test.
  static func load(
    flags: Flags = Flags(), environment: Environment, workingDirectory: String
  ) throws(CommandError) -> Settings {
    let project = try projectFile(above: workingDirectory, environment)
    let user = try userFile(environment)
    func value(_ flag: String?, _ variable: String, _ key: SettingsFile.Key) -> String? {
      if let flag { return flag }
      if let text = environment[variable], !text.isEmpty { return text }
      return project?.values[key]
    }
    let own = configFolder(environment) ?? workingDirectory
    return Settings(
      host: value(flags.host, "POCKET_HOST", .host) ?? user?.values[.host],
      agent: value(flags.agent, "POCKET_AGENT", .agent) ?? user?.values[.agent],
      sshConfig: value(flags.sshConfig, "POCKET_SSH_CONFIG", .sshConfig)
        .map { absolute($0, from: workingDirectory, home: environment["HOME"]) }
        ?? user?.values[.sshConfig].map { absolute($0, from: own, home: environment["HOME"]) },
      transport: try engine(
        value(flags.transport, "POCKET_TRANSPORT", .transport) ?? user?.values[.transport]))
  }

  /// The names of the engines, for an error.
  static let engineNames = EngineChoice.allCases.map(\.rawValue).joined(separator: ", ")

  private static func engine(_ name: String?) throws(CommandError) -> EngineChoice {
    guard let name else { return .auto }
    guard let engine = EngineChoice(rawValue: name) else {
      throw CommandError(
        "settings", "there is no transport '\(name)'; it is one of \(engineNames)", exit: .usage)
    }
    return engine
  }

  /// The host, or an error that says how to set one: none is guessed.
  func requireHost() throws(CommandError) -> String {
    if let host, !host.isEmpty { return host }
    throw CommandError(
      "no-host",
      "no host is set: give one with -H dev1 (a name from your ssh_config, or user@name:port), or set"
        + " POCKET_HOST=dev1, or write { host: \"dev1\" } to .pocket.json5",
      exit: .usage)
  }

  /// The agent, or an error that says how to set one: none is guessed.
  func requireAgent(known: [String]) throws(CommandError) -> String {
    guard let agent else {
      throw CommandError(
        "no-agent",
        "no agent is set: give one with -a \(known.first ?? "NAME"), or set POCKET_AGENT, or write"
          + " { agent: \"\(known.first ?? "NAME")\" } to .pocket.json5;"
          + " to run a plain command: pocket run -- COMMAND",
        exit: .usage)
    }
    guard known.contains(agent) else {
      let near = nearest(to: agent, among: known).map { "did you mean '\($0)'?" }
      throw CommandError(
        "unknown-agent",
        "there is no agent '\(agent)'; \(near ?? "known are \(known.joined(separator: ", "))")",
        exit: .usage)
    }
    return agent
  }

  private static let projectName = ".pocket.json5"

  private static func projectFile(
    above directory: String, _ environment: Environment
  ) throws(CommandError) -> SettingsFile? {
    var directory = directory
    while directory.hasPrefix("/") {
      let path = directory == "/" ? "/\(projectName)" : "\(directory)/\(projectName)"
      if directory != realHome || !isTest(environment),
        let bytes = try FileBytes.ifPresent(path, mustBeOwn: true)
      {
        return try SettingsFile(bytes, path: path, kind: .project)
      }
      guard directory != "/", let slash = directory.lastIndex(of: "/") else { break }
      directory = slash == directory.startIndex ? "/" : String(directory[..<slash])
    }
    return nil
  }

  private static func userFile(_ environment: Environment) throws(CommandError) -> SettingsFile? {
    guard let folder = configFolder(environment) else { return nil }
    if isTest(environment), let realHome, folder.hasPrefix(realHome + "/.config/") {
      throw CommandError(
        "settings", "a test would read the user's own \(folder)/config.json5", exit: .pocketFailed)
    }
    let path = folder + "/config.json5"
    guard let bytes = try FileBytes.ifPresent(path) else { return nil }
    return try SettingsFile(bytes, path: path, kind: .user)
  }

  /// `$XDG_CONFIG_HOME/pocket`, else `~/.config/pocket`. A relative value is ignored, as the XDG
  /// Base Directory Specification 0.8 wants.
  static func configFolder(_ environment: Environment) -> String? {
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
      return folder + "/pocket"
    }
    return environment["HOME"].map { $0 + "/.config/pocket" }
  }

  private static func absolute(_ path: String, from directory: String, home: String?) -> String {
    if path.hasPrefix("~/"), let home { return home + path.dropFirst(1) }
    // `none` is ssh's word for no file at all.
    return path.hasPrefix("/") || path == "none" ? path : directory + "/" + path
  }

  private static func isTest(_ environment: Environment) -> Bool {
    environment["POCKET_TESTING"] != nil || getenv("POCKET_TESTING") != nil
  }

  /// The home directory in the user database, which no variable changes.
  static let realHome: String? = {
    var record = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16384)
    guard getpwuid_r(getuid(), &record, &buffer, buffer.count, &found) == 0, found != nil,
      let home = record.pw_dir
    else { return nil }
    return String(cString: home)
  }()
}
