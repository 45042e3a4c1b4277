import JobModel
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The program with the user's own `ssh` under it.
@Suite struct OpenSSHTests {
  @Test func aJobRunsIsFollowedAndCancelled() async throws {
    try await ProgramWorld.with { world in
      let run = try await world.pocket(
        "run", "--transport", "openssh", "--", "sh", "-c", "echo out; echo err >&2; exit 7"
      ).run()
      #expect(run.end == .code(7) && run.outputText == "out\n" && run.errorText == "err\n")
      let id = try await start("echo begun; sleep 300", in: world)
      let cancel = try await world.pocket("cancel", "--transport", "openssh", "\(id)").run()
      #expect(cancel.end == .code(0), "\(cancel.errorText)")
      #expect(try ProcessEntry.carrying("POCKET_JOB=\(id)").isEmpty)
      let resume = try await world.pocket("resume", "--transport", "openssh", "\(id)").run()
      #expect(resume.end == .code(143) && resume.outputText == "begun\n")
      #expect(try await world.pocket("hosts").succeed().contains("OpenSSH_"))
      #expect(try await world.pocket("show", "\(id)").succeed().contains("ago by OpenSSH_"))
      try await waitUntil("the end of \((try? leftovers(of: world)) ?? [])") {
        try leftovers(of: world).isEmpty
      }
    }
  }

  @Test func aKilledMasterIsReplacedAndAKilledClientLeavesNone() async throws {
    try await ProgramWorld.with { world in
      let id = try await start(
        "for i in 1 2 3; do echo $i; until [ -e ~/go$i ]; do sleep 0.05; done; done", in: world)
      let client = try world.pocket("resume", "--transport", "openssh", "\(id)").start()
      for round in 1...2 {
        try await client.waitForOutput("line \(round)") { $0.count == 2 * round }
        // Not what waits beside it, which has its arguments as well.
        let master = try #require(
          try sshProcesses(of: world).first {
            $0.arguments.first == "ssh" && $0.arguments.contains("-M")
          })
        kill(master.pid, SIGKILL)
        try writeFile("\(world.server.remoteHome)/go\(round)", [])
      }
      try await client.waitForOutput("the last line") { $0.count == 6 }
      #expect(client.outputText == "1\n2\n3\n")
      #expect(client.errorText.contains("is back"), "\(client.errorText)")
      client.signal(SIGKILL)
      _ = try await client.exit()
      try await waitUntil("the end of \((try? leftovers(of: world)) ?? [])", deadline: .seconds(10))
      {
        try leftovers(of: world).isEmpty
      }
      try writeFile("\(world.server.remoteHome)/go3", [])
      #expect(try await world.pocket("resume", "\(id)").run().end == .code(0))
    }
  }

  /// A server with only an RSA host key: libssh2 1.10 cannot, later ones can.
  @Test func goingOnWithSSHIsSaidOnceACommand() async throws {
    var options = LoopbackServer.Options()
    options.hostKeyTypes = ["rsa"]
    try await ProgramWorld.with(options) { world in
      let result = try await world.pocket("run", "--", "sh", "-c", "echo out; exit 3").run()
      #expect(result.end == .code(3) && result.outputText == "out\n", "\(result.errorText)")
      let isBySSH = try await world.pocket("hosts").succeed().contains("OpenSSH_")
      let lines = result.errorText.split(separator: "\n")
      #expect(lines.count == (isBySSH ? 1 : 0), "\(lines)")
      #expect(
        lines.allSatisfy {
          $0.hasPrefix("pocket: dev1: libssh2 1.10.") && $0.hasSuffix("; going on with ssh")
        }, "\(lines)")
    }
  }

  @Test func withoutAnSSHTheErrorSaysWhatToDo() async throws {
    try await ProgramWorld.with { world in
      var command = world.pocket("run", "--transport", "openssh", "--", "true")
      command.environment["PATH"] = world.folder.path
      let result = try await command.run()
      #expect(result.end != .code(0))
      #expect(result.errorText.contains("--transport libssh2"), "\(result.errorText)")
    }
  }

  private func start(_ shell: String, in world: ProgramWorld) async throws -> JobID {
    let text = try await world.pocket(
      "run", "-d", "--transport", "openssh", "--", "sh", "-c", shell
    ).succeed()
    return try #require(JobID(text))
  }

  /// Those that a client of this world has started: each names a path of its own folder.
  private func sshProcesses(of world: ProgramWorld) throws -> [ProcessEntry] {
    try ProcessEntry.all().filter { entry in
      entry.isAlive
        && entry.arguments.contains { $0.hasPrefix(world.folder.path + "/pocket.") }
    }
  }

  /// The processes, and the folders of their connections.
  private func leftovers(of world: ProgramWorld) throws -> [String] {
    try sshProcesses(of: world).map { "\($0.pid) \($0.state) \($0.arguments.prefix(12))" }
      + namesInFolder(world.folder.path).filter { $0.hasPrefix("pocket.") }
      .map { "\($0): \(namesInFolder(world.folder.path + "/" + $0))" }
  }
}
