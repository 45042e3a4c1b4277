import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(
  .enabled(if: Namespaces.arePossible, "needs root on Linux, to give sshd a machine of its own"))
struct NamespaceTests {
  @Test(arguments: FirstProcess.allCases)
  func orphansAreWaitedForOnlyByAFirstProcessThatReaps(_ first: FirstProcess) async throws {
    var options = LoopbackServer.Options()
    options.launcher = first.launcher
    try await withLoopbackServer(options) { server in
      #expect(try await server.ssh("tr '\\0' ' ' </proc/1/cmdline").succeed().contains("sshd"))
      try await server.ssh("(sleep 0.2 & sh -c 'sleep 0.1 & :' &) </dev/null >&- 2>&-").succeed()
      let zombies = "sleep 0.5; cat /proc/[0-9]*/stat 2>&- | grep -c ') Z '"
      let found = try await server.ssh(zombies).run().outputText
      #expect((found == "0\n") == (first == .reaping), "\(found) zombies")
    }
  }

  @Test func connectionsAreFoundBelowAFirstProcess() async throws {
    var options = LoopbackServer.Options()
    options.launcher = FirstProcess.reaping.launcher
    let orphan = try await withLoopbackServer(options) { server in
      try await server.ssh("setsid sleep 100 >&- 2>&- <&- &").succeed()
      let client = try server.ssh("echo here; sleep 100").start()
      try await client.waitForOutput("the command's first line") { !$0.isEmpty }
      #expect(try server.connections().count == 1)
      return try #require(
        try ProcessEntry.carrying("HOME=\(server.remoteHome)").first {
          $0.arguments == ["sleep", "100"]
        })
    }
    #expect(ProcessEntry(pid: orphan.pid)?.isAlive != true)
  }

  @Test func theBootIDIsAnotherForOneServerAlone() async throws {
    let path = "/proc/sys/kernel/random/boot_id"
    let true_ = try readText(path)
    let (first, second) = (
      "11111111-2222-4333-8444-555555555555", "66666666-7777-4888-8999-aaaaaaaaaaaa"
    )
    let boot = try FakeBootID(first)
    var options = LoopbackServer.Options()
    options.launcher = boot.launcher
    try await withLoopbackServer(options) { server in
      #expect(try await server.ssh("cat \(path)").succeed() == first)
      try boot.set(second)
      #expect(try await server.ssh("cat \(path)").succeed() == second)
      #expect(try readText(path) == true_)
    }
  }

  @Test func aPulledCableIsSilentAndTellsNobody() async throws {
    let network = try await NetworkNamespace.make()
    var options = LoopbackServer.Options()
    options.launcher = network.launcher
    try await withLoopbackServer(options) { server in
      #expect(throws: SystemError.self) { try connectToLoopback(port: server.port) }
      let client = try network.inside(
        server.ssh("for i in 1 2 3; do echo $i; read -r _; done")
      ).withOpenInput().start()
      try await client.waitForOutput("the first line") { $0 == Array("1\n".utf8) }
      try await network.setCable(plugged: false)
      client.write(Array("\n".utf8))
      let new = try network.inside(server.ssh("echo new")).start()
      try await Task.sleep(for: .milliseconds(1500))
      #expect(client.isRunning && client.outputText == "1\n")
      #expect(new.isRunning && new.output.isEmpty)
      try await network.setCable(plugged: true)
      try await client.waitForOutput("the second line") { $0 == Array("1\n2\n".utf8) }
      #expect(try await new.exit().outputText == "new\n")
    }
  }
}

extension Command {
  fileprivate func withOpenInput() -> Command {
    var command = self
    command.input = .open
    return command
  }
}
