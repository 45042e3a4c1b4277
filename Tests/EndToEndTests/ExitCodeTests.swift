import JobModel
import TestSupport
import Testing

/// What a script sees of `pocket run`: stdout, stderr and the exit code.
@Suite struct ExitCodeTests {
  @Test func theJobsOwnCodeAndOutputComeThrough() async throws {
    try await ProgramWorld.with { world in
      func run(_ words: String...) async throws -> CommandResult {
        var command = world.pocket()
        command.arguments = ["run", "--"] + words
        return try await command.run()
      }
      let seven = try await run("sh", "-c", "exit 7")
      #expect(seven.end == .code(7) && seven.output.isEmpty && seven.errorOutput.isEmpty)

      let cat = try await run("cat")
      #expect(cat.end == .code(0) && cat.output.isEmpty)

      let tail = try await run("sh", "-c", "printf tail")
      #expect(tail.end == .code(0) && tail.outputText == "tail")

      let no = try await run("sh", "-c", "echo no >&2; exit 2")
      #expect(no.end == .code(2) && no.output.isEmpty && no.errorText == "no\n")

      let killed = try await run("sh", "-c", "kill -9 $$")
      #expect(killed.end == .code(137))

      let missing = try await run("no-such-program")
      #expect(missing.end == .code(127) && missing.errorText.contains("no-such-program"))
    }
  }

  @Test func aHostThatIsNotThereIsTold() async throws {
    try await ProgramWorld.with { world in
      try await world.server.stopListening()
      let result = try await world.pocket("run", "--", "true").run(deadline: .seconds(60))
      #expect(result.end == .code(255), "\(result.errorText)")
      #expect(result.errorText.contains("dev1"))
      let listed = try await world.pocket("ls").succeed()
      #expect(listed.contains("never started"), "\(listed)")
    }
  }

  @Test func cancellingTwiceIsNoError() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("sleep 300 & setsid sleep 300 & wait")
      for _ in 1...2 {
        let result = try await world.pocket("cancel", "\(id)").run()
        #expect(result.end == .code(0), "\(result.errorText)")
      }
      #expect(try ProcessEntry.carrying("POCKET_JOB=\(id)").filter(\.isAlive).isEmpty)
      #expect(try await world.pocket("resume", "\(id)").run().end == .code(143))
    }
  }

  /// Each job is followed on a connection of its own then, and none of them notices.
  @Test(arguments: ["libssh2", "openssh"])
  func severalJobsAreWaitedForWhereAConnectionCarriesOneCommand(_ engine: String) async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["MaxSessions 1"]
    try await ProgramWorld.with(options) { world in
      var wait = world.pocket("wait", "--transport", engine)
      for name in ["one", "two", "three"] {
        let shell = "echo \(name); until [ -e ~/go ]; do sleep 0.05; done; exit 3"
        _ = try await world.pocket("run", "-d", "-n", name, "--", "sh", "-c", shell).succeed()
        wait.arguments.append(name)
      }
      let waiting = try wait.start()
      try await waitUntil("three connections") { try world.server.connections().count == 3 }
      try writeFile("\(world.server.remoteHome)/go", [])
      let result = try await waiting.exit()
      #expect(result.end == .code(3), "\(result.errorText)")
      for name in ["one", "two", "three"] {
        #expect(try await world.pocket("logs", name).succeed() == name)
      }
    }
  }

  @Test func twoResumesOfOneJobBothHaveAllOutput() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start(
        "i=0; while [ $i -lt 200 ]; do echo \"줄 $i\"; echo e$i >&2; i=$((i+1)); sleep 0.01; done")
      async let one = world.pocket("resume", "\(id)").run()
      async let two = world.pocket("resume", "\(id)").run()
      for result in [try await one, try await two] {
        #expect(result.end == .code(0))
        #expect(try world.isHostFile(result.output, of: id, .out))
        #expect(try world.isHostFile(result.errorOutput, of: id, .err))
      }
      let verified = try await world.pocket("verify", "\(id)").run()
      #expect(verified.end == .code(0), "\(verified.outputText)")
    }
  }
}
