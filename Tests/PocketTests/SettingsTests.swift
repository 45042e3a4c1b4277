import SSHClient
import TestSupport
import Testing

@testable import pocket

@Suite struct SettingsTests {
  let world: World

  init() throws { world = try World() }

  func load(
    flags: Settings.Flags = Settings.Flags(), environment changes: [String: String] = [:],
    from directory: String = "work"
  ) throws(CommandError) -> Settings {
    var environment = world.environment
    for (name, value) in changes { environment[name] = value }
    return try Settings.load(
      flags: flags, environment: environment, workingDirectory: world.folder[directory])
  }

  func failure(_ body: () throws(CommandError) -> Settings) -> String {
    do {
      _ = try body()
      return ""
    } catch {
      return error.message
    }
  }

  @Test func nothingIsGuessed() throws {
    let settings = try load()
    #expect(settings == Settings())
    #expect(throws: CommandError.self) { try settings.requireHost() }
    #expect(throws: CommandError.self) { try settings.requireAgent(known: ["claude"]) }
  }

  @Test func theErrorsSayHowToSetOne() throws {
    let settings = try load()
    do {
      _ = try settings.requireHost()
    } catch {
      for way in ["-H ", "POCKET_HOST", ".pocket.json5"] { #expect(error.message.contains(way)) }
      #expect(error.exit == .usage)
    }
    do {
      _ = try settings.requireAgent(known: ["claude"])
    } catch {
      for way in ["-a ", "POCKET_AGENT", ".pocket.json5", "run -- "] {
        #expect(error.message.contains(way))
      }
    }
  }

  @Test func theNearerPlaceWins() throws {
    try world.folder.write("config/pocket/config.json5", "{host: 'user', agent: 'user'}")
    #expect(try load().host == "user")
    try world.folder.write("work/.pocket.json5", "{host: 'project', /* its own */}")
    #expect(try load().host == "project")
    #expect(try load().agent == "user")
    #expect(try load(environment: ["POCKET_HOST": "variable"]).host == "variable")
    #expect(try load(environment: ["POCKET_HOST": ""]).host == "project")
    let flags = Settings.Flags(host: "flag")
    #expect(try load(flags: flags, environment: ["POCKET_HOST": "variable"]).host == "flag")
  }

  @Test func theProjectFileIsFoundInAFolderAbove() throws {
    _ = try world.folder.folder("work/a")
    _ = try world.folder.folder("work/a/b")
    try world.folder.write("work/.pocket.json5", "{host: 'above'}")
    #expect(try load(from: "work/a/b").host == "above")
    try world.folder.write("work/a/.pocket.json5", "{agent: 'claude'}")
    #expect(try load(from: "work/a/b").agent == "claude")
    #expect(try load(from: "work/a/b").host == nil)
  }

  @Test func aWrongKeyOrTypeIsOneLineThatNamesFileAndKey() throws {
    let path = world.folder["work/.pocket.json5"]
    for (content, words) in [
      ("{hots: 'x'}", ["'hots'", "'host'"]),
      ("{colour: 1}", ["'colour'", "host, agent, sshConfig, transport"]),
      ("{host: 3}", ["'host'", "a number"]), ("{host: true}", ["'host'", "true or false"]),
      ("{host: null}", ["'host'", "null"]), ("{host: ['a']}", ["'host'", "a list"]),
      ("{host: ''}", ["'host'", "empty"]), ("['a']", ["not an object"]), ("{host:", ["JSON5"]),
      ("", ["JSON5"]),
    ] {
      try world.folder.write("work/.pocket.json5", content)
      let message = failure { () throws(CommandError) in try load() }
      for word in [path] + words { #expect(message.contains(word), "\(content): \(message)") }
      #expect(!message.contains("\n"))
    }
  }

  @Test func aProjectCannotNamePrograms() throws {
    try world.folder.write("work/.pocket.json5", "{sshConfig: 'evil'}")
    let message = failure { () throws(CommandError) in try load() }
    #expect(message.contains("sshConfig") && message.contains("only in your own"))
    try world.folder.write("work/.pocket.json5", "{}")
    try world.folder.write("config/pocket/config.json5", "{sshConfig: '~/.ssh/work'}")
    #expect(try load().sshConfig == world.folder["home/.ssh/work"])
  }

  @Test func pathsAreTakenFromWhereTheyWereSaid() throws {
    #expect(
      try load(flags: Settings.Flags(sshConfig: "conf")).sshConfig == world.folder["work/conf"])
    #expect(try load(environment: ["POCKET_SSH_CONFIG": "/abs"]).sshConfig == "/abs")
    try world.folder.write("config/pocket/config.json5", "{sshConfig: 'mine'}")
    #expect(try load().sshConfig == world.folder["config/pocket/mine"])
    // ssh's own word for no file at all.
    #expect(try load(flags: Settings.Flags(sshConfig: "none")).sshConfig == "none")
  }

  @Test func theTransportIsOneOfThree() throws {
    #expect(try load().transport == .auto)
    try world.folder.write("config/pocket/config.json5", "{transport: 'libssh2'}")
    #expect(try load().transport == .libssh2)
    try world.folder.write("work/.pocket.json5", "{transport: 'openssh'}")
    #expect(try load().transport == .openssh)
    let variable = ["POCKET_TRANSPORT": "auto"]
    #expect(try load(environment: variable).transport == .auto)
    #expect(
      try load(flags: Settings.Flags(transport: "openssh"), environment: variable).transport
        == .openssh)
    let wrong = failure { () throws(CommandError) in
      try load(environment: ["POCKET_TRANSPORT": "telnet"])
    }
    #expect(wrong.contains("'telnet'") && wrong.contains("auto, libssh2, openssh"))
    try world.folder.write("work/.pocket.json5", "{transport: 'telnet'}")
    let inFile = failure { () throws(CommandError) in try load() }
    #expect(inFile.contains("work/.pocket.json5") && inFile.contains("auto, libssh2, openssh"))
  }

  @Test func anUnreadableFileIsNamed() throws {
    _ = try world.folder.folder("work/.pocket.json5")
    let message = failure { () throws(CommandError) in try load() }
    #expect(message.contains(world.folder["work/.pocket.json5"]))
  }

  /// Design invariant 10.
  @Test func aTestThatWouldReadTheUsersRealConfigDies() throws {
    let home = try #require(Settings.realHome)
    var environment = Environment(["POCKET_TESTING": "1", "HOME": home])
    #expect(throws: CommandError.self) {
      try Settings.load(environment: environment, workingDirectory: world.folder.path)
    }
    environment["XDG_CONFIG_HOME"] = home + "/.config"
    #expect(throws: CommandError.self) {
      try Settings.load(environment: environment, workingDirectory: world.folder.path)
    }
  }
}
