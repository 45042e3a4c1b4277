import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What all rows share.
struct World: Sendable {
  let keyring: Keyring
  /// nil where this process is not root: then the current user logs in, and nothing that needs a
  /// password or reads `~/.ssh` can be tried.
  let account: ThrowawayAccount?
}

/// One row's servers, agent and client configuration; all of it ends with `stop()`.
struct Scene: Sendable {
  static let alias = "host"

  let folder: TemporaryFolder
  /// For `ssh -F`.
  var configuration: String { folder["ssh_config"] }
  /// The answers to what a client may ask.
  let passphrase: String
  let password: String
  var servers: [MatrixServer] = []
  var agent: RunningCommand?
  /// What stands in front of the server; they end with this value.
  var fronts: [any Sendable] = []

  /// Why a row cannot be tried here; nil when it can.
  static func obstacle(_ row: Row, _ world: World) -> String? {
    if world.account == nil {
      if row.test.login.needsPassword { return "only root can make an account with a password" }
      if row.program == .dropbear { return "dropbear reads the account's own ~/.ssh" }
    }
    if case .securityKey = row.test.login, world.keyring.securityKeyProvider == nil {
      return "OpenSSH's sk-dummy could not be had"
    }
    return nil
  }

  init(_ row: Row, _ world: World) async throws {
    folder = try TemporaryFolder("row")
    passphrase = Keyring.passphrase
    password = world.account?.password ?? ""
    do {
      try await build(row, world)
    } catch {
      try await stop()
      throw error
    }
  }

  func stop() async throws {
    agent?.signal(SIGTERM)
    for server in servers { try await server.stop() }
  }

  private mutating func build(_ row: Row, _ world: World) async throws {
    let test = row.test
    for (name, text) in test.files { try folder.write(name, text) }
    let user = try world.account?.name ?? currentUser()
    var entry = try await credentials(test.login, user, world)
    var server = MatrixServer.Options()
    server.address = test.address == "::1" ? "::1" : "127.0.0.1"
    for kind in test.hostKeys {
      server.hostKeys.append(try await world.keyring.key(kind, for: "host"))
    }
    server.configuration =
      expand(test.server) + entry.server + common(world)
      + (test.hasSFTP ? ["Subsystem sftp internal-sftp"] : [])
    server.allowsPasswords = test.login.needsPassword
    if case .keyThenPassword = test.login { server.requiresKeyAndPassword = true }
    try await authorize(entry.authorizedKeys, world)

    var port: UInt16 = 0
    if case .plain(let behaviour) = test.front {
      let plain = try PlainServer(behaviour)
      fronts.append(plain)
      port = plain.port
    } else {
      let started = try await MatrixServer.start(row.program, server, in: folder)
      servers.append(started)
      port = started.port
    }
    switch test.front {
    case .none, .plain: break
    case .linesBeforeVersion: port = try await linesBefore(port)
    case .otherConnection: fronts.append(OpenConnection(try connectToLoopback(port: port)))
    case .twoJumps: entry.otherHosts = try await twoJumps(row.program, server, user, world)
    }

    var known = ""
    for key in server.hostKeys { known += "\(Self.alias) \(try readText("\(key).pub"))" }
    try folder.write("known_hosts", known)
    let block =
      expand(test.client) + entry.client + [
        "HostName \(test.address)", "Port \(port)", "HostKeyAlias \(Self.alias)",
      ] + ending(user)
    try write(block, entry.otherHosts, test.style)
  }
}

private func currentUser() throws -> String {
  guard let account = getpwuid(geteuid()) else { throw SystemError("getpwuid") }
  return String(cString: account.pointee.pw_name)
}

/// A connection that says nothing, and ends with this object.
private final class OpenConnection: Sendable {
  private let descriptor: Int32
  init(_ descriptor: Int32) { self.descriptor = descriptor }
  deinit { close(descriptor) }
}
