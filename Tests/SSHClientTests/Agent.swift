import TestSupport

/// An ssh-agent of the test's own.
struct Agent {
  let socket: String
  private let running: RunningCommand

  static func start(in folder: TemporaryFolder) async throws -> Agent {
    let socket = folder["agent"]
    let running = try Command("ssh-agent", ["-D", "-a", socket]).start()
    // The socket's file is there before the agent listens on it; this line comes after.
    try await waitUntil("the agent's first line") { running.outputText.contains("SSH_AUTH_SOCK") }
    return Agent(socket: socket, running: running)
  }

  /// Runs `body` with an agent that is gone afterwards.
  static func with(
    _ folder: TemporaryFolder, isolation: isolated (any Actor)? = #isolation,
    _ body: (Agent) async throws -> Void
  ) async throws {
    let agent = try await start(in: folder)
    do { try await body(agent) } catch {
      await agent.stop()
      throw error
    }
    await agent.stop()
  }

  /// With the certificate beside it, if there is one.
  func add(_ key: String) async throws {
    try await Command("env", ["SSH_AUTH_SOCK=\(socket)", "ssh-add", "-q", key]).succeed()
  }

  func removeAll() async throws {
    try await Command("env", ["SSH_AUTH_SOCK=\(socket)", "ssh-add", "-q", "-D"]).succeed()
  }

  func stop() async { running.signal(15) }
}
