import JobModel
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The built `pocket`, a host behind the fault proxy, and a store: what a run of chaos breaks.
struct ChaosWorld: Sendable {
  static let alias = "dev1"

  let server: LoopbackServer
  let proxy: FaultProxy
  let folder: TemporaryFolder

  var home: String { server.remoteHome }
  var storePath: String { folder["store/pocket.db"] }

  static func with<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (ChaosWorld) async throws -> Result
  ) async throws -> Result {
    var options = LoopbackServer.Options()
    options.alias = "direct"
    return try await withLoopbackServer(options) { server in
      let proxy = try FaultProxy(server: server.port)
      defer { proxy.stop() }
      try server.addHost(alias, port: proxy.port)
      let world = ChaosWorld(
        server: server, proxy: proxy, folder: try TemporaryFolder("pocket-chaos"))
      for name in ["starts", "ends", "slow"] { mkdir("\(server.remoteHome)/\(name)", 0o700) }
      try writeFile("\(server.remoteHome)/job", Array(Workload.script.utf8), mode: 0o700)
      // Every link takes its time, as on a busy disk: a launch makes seven, and a fault shall have a
      // chance to come between two of them.
      let link = "#!/bin/sh\nsleep 0.0$(($$ % 10))\nexec /bin/ln \"$@\"\n"
      try writeFile("\(server.remoteHome)/slow/ln", Array(link.utf8), mode: 0o700)
      try writeFile(
        "\(server.remoteHome)/.bash_profile", Array("PATH=$HOME/slow:$PATH\n".utf8))
      return try await body(world)
    }
  }

  /// A call of the program.
  func pocket(_ arguments: [String]) -> Command {
    Command(
      builtProgram("pocket"), arguments,
      environment: [
        "POCKET_HOME": folder["store"], "POCKET_SSH_CONFIG": server.sshConfiguration,
        "POCKET_HOST": Self.alias, "XDG_CONFIG_HOME": folder["config"],
        "HOME": folder["home"], "TMPDIR": folder.path,
      ],
      folder: folder.path)
  }

  /// How often a job's command was started.
  func starts(_ plan: JobPlan) -> Int { lines(in: "starts/\(plan.tag)") }
  /// Whether a job's command got to its own end.
  func reachedItsEnd(_ plan: JobPlan) -> Bool { lines(in: "ends/\(plan.tag)") > 0 }

  private func lines(in name: String) -> Int {
    guard let bytes = try? readFile("\(home)/\(name)") else { return 0 }
    return bytes.count { $0 == 0x0A }
  }
}
