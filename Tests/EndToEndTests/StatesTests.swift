import JobModel
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a user is told of jobs that did not just run and end.
@Suite struct StatesTests {
  @Test func aHostThatIsAwayAndBack() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("sleep 1000")
      try await world.server.stopListening()
      let away = try await world.pocket("ls", "--refresh").run()
      #expect(away.outputText.contains("\(id)  unreachable (running)  "), "\(away)")
      let shown = try await world.pocket("show", "@").succeed()
      #expect(shown.contains("unreachable (running): the host does not answer"), "\(shown)")
      #expect(shown.contains("next     try again: pocket resume \(id)"), "\(shown)")
      try await world.server.startListening()
      let back = try await world.pocket("show", "@", "--refresh").succeed()
      #expect(back.contains("  state    running, seen "), "\(back)")
      #expect(back.contains("\n  silent   since "), "\(back)")
    }
  }

  @Test(.enabled(if: Namespaces.arePossible, "needs root on Linux"))
  func aHostThatWasRestarted() async throws {
    let boot = try FakeBootID("11111111-2222-4333-8444-555555555555")
    var options = LoopbackServer.Options()
    options.launcher = boot.launcher
    try await ProgramWorld.with(options) { world in
      let id = try await world.start("echo one; sleep 1000")
      try await waitUntil("the first line") { try fileSize(world.hostFile(id, .out)) == 4 }
      try boot.set("66666666-7777-4888-8999-aaaaaaaaaaaa")
      let resumed = try await world.pocket("resume", "@").run()
      #expect(resumed.outputText == "one\n" && resumed.end == .code(125), "\(resumed)")
      #expect(resumed.errorText.contains("lost (host rebooted): "), "\(resumed)")
      #expect(try await world.pocket("ls").succeed().contains("\(id)  lost (host rebooted)  "))
      let json = try await world.pocket("show", "@", "--json").succeed()
      #expect(json.contains(#""evidence":{"boot":"other","#), "\(json)")
      #expect(json.contains(#""detail":"lost rebooted""#), "\(json)")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a disk"))
  func aDiskThatTheJobHasFilled() async throws {
    try await ProgramWorld.with { world in
      let folder = "\(world.server.remoteHome)/.pocket"
      try #require(mkdir(folder, 0o700) == 0)
      try await SmallDisk.with(bytes: 4 << 20, at: folder) { _ in
        let ended = try await world.pocket("run", "--", "sh", "-c", "cat /dev/zero; exit 5").run()
        #expect(ended.end == .code(5))
        #expect(ended.errorText.contains("finished, exit 5, disk full"), "\(ended.errorText)")
        #expect(try await world.pocket("ls").succeed().contains("finished, exit 5, disk full  "))
      }
    }
  }
}
