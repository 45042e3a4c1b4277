import SSHClient
import TestSupport
import Testing

/// A server that is not OpenSSH and asks much, played by `asking_server.py`.
struct AskingServer {
  let folder: TemporaryFolder
  let port: UInt16
  private let running: RunningCommand

  var authorizedKeysFile: String { folder["authorized_keys"] }
  var sshConfiguration: String { folder["ssh_config"] }

  /// Runs `body` with a server that lets in by its questions, or with `key`.
  static func with(
    key: String, isolation: isolated (any Actor)? = #isolation,
    _ body: (AskingServer) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder("asking")
    try await LoopbackServer.makeKey("ecdsa", folder["host"])
    try await LoopbackServer.makeKey(key, folder["key"])
    try folder.write("authorized_keys", readText(folder["key.pub"]))
    // Debian's own Python has Debian's asyncssh.
    let running = try Command(
      "/usr/bin/python3",
      [
        "-W", "ignore", "\(sourceFolder(#filePath))/asking_server.py", folder["host"],
        folder["authorized_keys"],
      ], input: .open
    ).start()
    try await running.waitForOutput("the asking server's port") { $0.contains(0x0A) }
    let port = try #require(UInt16(running.outputText.dropLast()))
    let server = AskingServer(folder: folder, port: port, running: running)
    let hostKey = try readText(folder["host.pub"])
    try folder.write("known_hosts", "[127.0.0.1]:\(port) \(hostKey)")
    do { try await body(server) } catch {
      running.closeInput()
      throw error
    }
    running.closeInput()
  }

  /// Connects once; nil is success.
  func refusal(_ lines: [String], _ answers: Answers? = nil) async throws -> SSHError? {
    let all =
      ["Host asking"] + lines + [
        "HostName 127.0.0.1", "Port \(port)", "User me", "IdentitiesOnly yes", "IdentityAgent none",
        "UserKnownHostsFile \(folder["known_hosts"])", "GlobalKnownHostsFile /dev/null",
        "StrictHostKeyChecking yes",
      ]
    try writeFile(sshConfiguration, Array((all.joined(separator: "\n  ") + "\n").utf8))
    return try await connectionRefusal("asking", sshConfiguration, answers)
  }
}
