#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A real sshd of the test's own on 127.0.0.1: own host keys, own configuration, a temporary home
/// for what it starts. It runs as the current user and lets in the current user with one key.
///
/// It ends with `stop()`, with this object, and with this process however that dies. Use
/// `withLoopbackServer` unless the server must outlive a scope.
package final class LoopbackServer: Sendable {
  /// What a test may want different.
  package struct Options: Sendable {
    /// The host's name in the ssh_config file.
    package var alias = "dev1"
    /// As `ssh-keygen -t` names them: `ed25519`, `ecdsa`, `rsa`.
    package var hostKeyTypes = ["ed25519"]
    /// The type of the key that the client has.
    package var clientKeyType = "ed25519"
    /// Lines for sshd_config; they come first, and sshd takes the first of two.
    package var serverConfiguration: [String] = []
    /// Blocks that begin with `Match`, for the end of sshd_config.
    package var matchBlocks: [String] = []
    /// Whether sshd has the SFTP subsystem.
    package var offersSFTP = true
    /// A program that starts sshd, and its arguments; sshd's own follow (`FirstProcess`,
    /// `FakeBootID`, `NetworkNamespace`).
    package var launcher: [String] = []
    /// Lines for the host's block of the ssh_config file; they come first there too.
    package var clientConfiguration: [String] = []
    /// Variables that every remote command gets.
    package var remoteEnvironment: [String: String] = [:]

    package init() {}
  }

  package let options: Options
  package let folder: TemporaryFolder
  package let port: UInt16
  /// The home of every remote command (`HOME` by sshd's SetEnv; the working directory at its start
  /// remains the account's own).
  package let remoteHome: String
  /// The account to log in to: the current user's.
  package let user: String
  private let daemon: Locked<Daemon?>

  /// The host's name for `ssh -F sshConfiguration`.
  package var alias: String { options.alias }
  /// The client's configuration file, for `ssh -F`.
  package var sshConfiguration: String { folder["ssh_config"] }
  /// The client's private key; `.pub` beside it.
  package var identityFile: String { folder["client_key"] }
  package var knownHostsFile: String { folder["known_hosts"] }
  package var authorizedKeysFile: String { folder["authorized_keys"] }
  /// What sshd has said so far (LogLevel VERBOSE).
  package var log: String { (try? readText(folder["sshd.log"])) ?? "" }

  /// Starts a server and returns when it listens.
  package static func start(_ options: Options = Options()) async throws -> LoopbackServer {
    let folder = try TemporaryFolder("sshd")
    try await makeKeys(options, in: folder)
    // Somebody else may take the port between the look and sshd's bind.
    var attempt = 1
    while true {
      let server = try LoopbackServer(options, folder, port: freePort())
      do {
        try await server.startDaemon()
        return server
      } catch let failure as ServerDidNotStart where failure.portWasTaken && attempt < 5 {
        attempt += 1
      }
    }
  }

  private init(_ options: Options, _ folder: TemporaryFolder, port: UInt16) throws {
    guard let account = getpwuid(geteuid()) else { throw SystemError("getpwuid") }
    self.options = options
    self.folder = folder
    self.port = port
    user = String(cString: account.pointee.pw_name)
    remoteHome = folder["home"]
    daemon = Locked(nil)
    if !fileExists(remoteHome) { _ = try folder.folder("home") }
    try folder.write("sshd_config", serverConfiguration)
    try folder.write("ssh_config", "")
    try folder.write("known_hosts", "")
    try addHost(alias, port: port, configuration: options.clientConfiguration)
  }

  deinit { killEverything() }

  /// Ends the server, its connections, and all that remote commands have left running.
  package func stop() async {
    killEverything()
    do {
      try await waitUntil("the end of all that ran under \(remoteHome)", every: .milliseconds(20)) {
        killEverything()
        let isDown = daemon.withLock { $0?.isRunning != true }
        return try isDown && leftBehind().isEmpty
      }
    } catch {
      // A process in an uninterruptible sleep: there is nothing more that can be done about it.
    }
  }

  /// Ends the listening sshd alone: no new connection is possible, those there are go on.
  package func stopListening() async throws {
    let listener = daemon.withLock { $0 }
    listener?.end()
    try await listener?.awaitEnd()
  }

  /// Listens again on the same port, after `stopListening()`.
  package func startListening() async throws {
    // For a moment, somebody who looks for a free port may hold this one.
    try await waitUntil("port \(port) free again", every: .milliseconds(100)) {
      do {
        try await startDaemon()
        return true
      } catch let failure as ServerDidNotStart where failure.portWasTaken {
        return false
      }
    }
  }

  /// The sshd processes that serve one connection each, oldest first; to be killed or stopped.
  package func connections() throws -> [Int32] {
    guard let started = daemon.withLock({ $0?.pid }) else { return [] }
    let all = try ProcessEntry.all()
    // A launcher that does not become sshd has it below itself.
    let listener = all.first { entry in
      guard entry.isAlive, entry.arguments.joined(separator: " ").contains("[listener]") else {
        return false
      }
      var ancestor: ProcessEntry? = entry
      while let next = ancestor, next.pid != started { ancestor = ProcessEntry(pid: next.parent) }
      return ancestor != nil
    }
    guard let listener else { return [] }
    return all.filter { $0.parent == listener.pid && $0.isAlive }.map(\.pid).sorted()
  }

  /// Names another way to this server in the client's configuration: through a proxy at `port`.
  ///
  /// - Parameter configuration: lines for the host's block, which come first.
  package func addHost(_ alias: String, port: UInt16, configuration: [String] = []) throws {
    let lines =
      ["Host \(alias)"] + configuration + [
        "HostName 127.0.0.1", "Port \(port)", "User \(user)", "IdentityFile \(identityFile)",
        "IdentitiesOnly yes", "IdentityAgent none", "UserKnownHostsFile \(knownHostsFile)",
        "GlobalKnownHostsFile /dev/null", "StrictHostKeyChecking yes",
      ]
    try appendToFile(sshConfiguration, Array((lines.joined(separator: "\n  ") + "\n").utf8))
    for type in options.hostKeyTypes {
      let key = try readText(folder["host_\(type).pub"])
      try appendToFile(knownHostsFile, Array("[127.0.0.1]:\(port) \(key)".utf8))
    }
  }

  /// A command that runs on this server through the `ssh` program.
  package func ssh(_ remoteCommand: String, arguments: [String] = []) -> Command {
    Command("ssh", ["-F", sshConfiguration] + arguments + [alias, remoteCommand])
  }
}

/// An sshd that did not come to listen, with what it said.
package struct ServerDidNotStart: Error, CustomStringConvertible {
  package let log: String
  var portWasTaken: Bool { log.contains("Address already in use") }
  package var description: String { "sshd did not start to listen. It said:\n\(log)" }
}

/// Runs `body` with a server that is gone afterwards, whatever happens.
package func withLoopbackServer<Result>(
  _ options: LoopbackServer.Options = .init(), isolation: isolated (any Actor)? = #isolation,
  _ body: (LoopbackServer) async throws -> Result
) async throws -> Result {
  let server = try await LoopbackServer.start(options)
  do {
    let result = try await body(server)
    await server.stop()
    return result
  } catch {
    await server.stop()
    throw error
  }
}

extension LoopbackServer {
  private static func makeKeys(_ options: Options, in folder: TemporaryFolder) async throws {
    for type in options.hostKeyTypes {
      try await makeKey(type, folder["host_\(type)"])
    }
    try await makeKey(options.clientKeyType, folder["client_key"])
    try folder.write("authorized_keys", readText(folder["client_key.pub"]))
  }

  /// Makes a key pair without a passphrase at `path` and `path.pub`.
  package static func makeKey(_ type: String, _ path: String) async throws {
    try await Command("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "test", "-f", path])
      .succeed()
  }

  private var serverConfiguration: String {
    let environment = ["HOME": remoteHome].merging(options.remoteEnvironment) { _, new in new }
      .sorted { $0.key < $1.key }.map { "\"\($0.key)=\($0.value)\"" }.joined(separator: " ")
    // Of two lines with this word sshd takes the last one.
    let limitsStartups = options.serverConfiguration.contains { $0.hasPrefix("MaxStartups ") }
    let lines =
      options.serverConfiguration
      + options.hostKeyTypes.map { "HostKey \(folder["host_\($0)"])" }
      + [
        "Port \(port)", "ListenAddress 127.0.0.1", "AuthorizedKeysFile \(authorizedKeysFile)",
        "SetEnv \(environment)", "PidFile none", "UsePAM no", "StrictModes no", "UseDNS no",
        "PermitRootLogin yes", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
        "PermitUserRC no", "PrintMotd no", "LogLevel VERBOSE",
      ] + (limitsStartups ? [] : ["MaxStartups 100"])
      + (options.offersSFTP ? ["Subsystem sftp internal-sftp"] : []) + options.matchBlocks
    return lines.joined(separator: "\n") + "\n"
  }

  private func startDaemon() async throws {
    // sshd run by root refuses to start without its empty folder, which the service's start makes.
    if geteuid() == 0 { _ = mkdir("/run/sshd", 0o755) }
    try folder.write("sshd.log", "")
    let sshd = "/usr/sbin/sshd"
    var arguments = ["-D", "-f", folder["sshd_config"], "-E", folder["sshd.log"]]
    // From 9.8 on sshd shuts an address out after failures, which tests cause on purpose; an older
    // one does not know the option.
    let lenient = ["-o", "PerSourcePenalties=no"]
    let trial = try await Command(sshd, ["-t", "-f", folder["sshd_config"]] + lenient).run()
    if trial.code == 0 { arguments += lenient }
    let line = options.launcher + [sshd] + arguments
    let running = try Daemon(line[0], Array(line.dropFirst()))
    daemon.withLock { $0 = running }
    do {
      try await waitUntil("sshd listening on port \(port)", every: .milliseconds(5)) {
        if log.contains("Server listening on 127.0.0.1 port \(port)") { return true }
        if !running.isRunning { throw ServerDidNotStart(log: log + running.errorText) }
        return false
      }
    } catch is DidNotHappen {
      throw ServerDidNotStart(log: log + running.errorText)
    }
  }

  /// What runs on in the temporary home: all whose HOME it is (sshd gave it to every remote
  /// command), and all that carry the cookie of a job there.
  private func leftBehind() throws -> [ProcessEntry] {
    var marks: Set = ["HOME=\(remoteHome)"]
    for id in namesInFolder("\(remoteHome)/.pocket/jobs") { marks.insert("POCKET_JOB=\(id)") }
    return try ProcessEntry.all().filter {
      $0.isAlive && $0.pid != getpid() && !$0.environment.isDisjoint(with: marks)
    }
  }

  private func killEverything() {
    // Connections first: once their listener has gone they are nobody's children.
    for pid in (try? connections()) ?? [] { _ = kill(pid, SIGKILL) }
    daemon.withLock { $0?.end() }
    for process in (try? leftBehind()) ?? [] { _ = kill(process.pid, SIGKILL) }
  }
}
