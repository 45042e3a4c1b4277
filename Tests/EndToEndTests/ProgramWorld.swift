import JobModel
import JobStore
import TestSupport
import Testing

/// The built `pocket`, a host, and a store of the test's own.
struct ProgramWorld {
  let server: LoopbackServer
  let folder: TemporaryFolder

  static func with<Result>(
    _ options: LoopbackServer.Options = .init(), _ body: (ProgramWorld) async throws -> Result
  ) async throws -> Result {
    try await withLoopbackServer(options) { server in
      try await body(ProgramWorld(server: server, folder: try TemporaryFolder("pocket-home")))
    }
  }

  /// A call of the program.
  func pocket(_ arguments: String..., input: Command.Input = .null) -> Command {
    Command(
      builtProgram("pocket"), arguments,
      environment: [
        "POCKET_HOME": folder["store"], "POCKET_SSH_CONFIG": server.sshConfiguration,
        "POCKET_HOST": server.alias, "XDG_CONFIG_HOME": folder["config"],
        "HOME": folder["home"], "TMPDIR": folder.path,
      ],
      folder: folder.path, input: input)
  }

  /// Starts a job and gives its id.
  func start(_ shell: String) async throws -> JobID {
    let text = try await pocket("run", "-d", "--", "sh", "-c", shell).succeed()
    return try #require(JobID(text))
  }

  /// A second view of the store, in this process.
  func openStore() async throws -> JobStore {
    try await JobStore(at: StoreLocation(path: folder["store/pocket.db"]))
  }

  /// Whether these are all bytes of a stream. No more than that: to describe the difference between
  /// two long arrays takes the testing library minutes.
  func isHostFile(_ bytes: [UInt8], of id: JobID, _ stream: JobStream) throws -> Bool {
    try readFile(hostFile(id, stream)) == bytes
  }

  func hostFile(_ id: JobID, _ stream: JobStream) -> String {
    "\(server.remoteHome)/.pocket/jobs/\(id)/" + (stream == .out ? "out.jsonl" : "err.log")
  }
}
