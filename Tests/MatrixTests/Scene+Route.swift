import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What lies between the client and the server, and how the client's configuration names it.
extension Scene {
  /// socat speaks first and then hands both directions on.
  mutating func linesBefore(_ port: UInt16) async throws -> UInt16 {
    let own = try freePort()
    let talk =
      "printf 'This host belongs to nobody.\\r\\nGo on.\\r\\n'; exec socat - TCP:127.0.0.1:\(port)"
    let script = try folder.write("talk", talk)
    fronts.append(
      try Daemon(
        "socat",
        ["TCP-LISTEN:\(own),bind=127.0.0.1,reuseaddr,fork", "EXEC:sh \(script)"]))
    try await waitUntil("socat listening") {
      guard let probe = try? connectToLoopback(port: own) else { return false }
      close(probe)
      return true
    }
    return own
  }

  /// Two servers on the way; each takes one key only, which the others do not.
  mutating func twoJumps(
    _ program: ServerProgram, _ options: MatrixServer.Options, _ user: String, _ world: World
  ) async throws -> [String] {
    var lines: [String] = []
    for name in ["hop1", "hop2"] {
      let key = try await world.keyring.key(.ed25519, for: name)
      // The account must be able to read it, and the folder of the row is ours alone.
      let authorized = "\(authorizedKeysFile(world)).\(name)"
      try writeFile(authorized, readFile("\(key).pub"), mode: 0o644)
      var hop = options
      hop.configuration = ["AuthorizedKeysFile \(authorized)"] + options.configuration
      let server = try await MatrixServer.start(program, hop, in: folder, name: name)
      servers.append(server)
      lines += [
        "Host \(name)", "HostName 127.0.0.1", "Port \(server.port)", "IdentityFile \(key)",
        "IdentitiesOnly yes", "IdentityAgent none", "HostKeyAlias \(Self.alias)",
      ]
      lines += ending(user)
    }
    return lines
  }

  func ending(_ user: String) -> [String] {
    [
      "User \(user)", "UserKnownHostsFile \(folder["known_hosts"])",
      "GlobalKnownHostsFile /dev/null", "StrictHostKeyChecking yes",
    ]
  }

  func write(_ block: [String], _ otherHosts: [String], _ style: Case.Style) throws {
    func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
    switch style {
    case .host:
      try folder.write("ssh_config", text(["Host \(Self.alias)"] + block + otherHosts))
    case .include:
      try folder.write("part", text(["Host \(Self.alias)"] + block))
      try folder.write("ssh_config", text(["Include \(folder["part"])"]))
    case .matchExec:
      let condition = "Match originalhost \(Self.alias) exec \"test -e \(folder["ssh_config"])\""
      let wrong = ["Host \(Self.alias)", "HostName nowhere.invalid"]
      try folder.write("ssh_config", text([condition] + block + wrong))
    }
  }

  func expand(_ lines: [String]) -> [String] {
    lines.map {
      $0.split(separator: "{folder}", omittingEmptySubsequences: false)
        .joined(separator: folder.path)
    }
  }
}
