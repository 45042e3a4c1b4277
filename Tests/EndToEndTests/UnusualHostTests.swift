import JobModel
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The main job on hosts that are not as most are: exit codes, a killed client, a cancelled tree.
@Suite struct UnusualHostTests {
  @Test(
    .enabled(if: geteuid() == 0, "only root can make an account with another login shell"),
    arguments: ["fish", "tcsh"])
  func aLoginShellThatIsNoPOSIXShell(_ shell: String) async throws {
    try await ThrowawayAccount.with(shell: "/usr/bin/\(shell)") { account in
      guard let account else { return }
      var options = LoopbackServer.Options()
      options.clientConfiguration = ["User \(account.name)"]
      // In its own home, since the tests' temporary folder may be closed to it.
      let keys = "\(account.home)/.ssh/authorized_keys"
      options.matchBlocks = [
        "Match User \(account.name)", "SetEnv HOME=\(account.home)", "AuthorizedKeysFile \(keys)",
      ]
      try await ProgramWorld.with(options) { world in
        try await account.write(
          ".ssh/authorized_keys", readText(world.server.identityFile + ".pub"))
        let name = try await world.pocket("run", "--", "sh", "-c", "echo $SHELL $HOME").run()
        #expect(name.outputText == "/usr/bin/\(shell) \(account.home)\n", "\(name.errorText)")
        try await runsCancelsAndResumes(world)
      }
    }
  }

  @Test func busyboxUtilitiesFirstOnPATH() async throws {
    try await ProgramWorld.with { world in
      let utilities = try world.folder.folder("busybox")
      let names = try await Command("busybox", ["--list"]).succeed().split(separator: "\n")
      for name in names { symlink("/bin/busybox", "\(utilities)/\(name)") }
      // For the login bash, whose /etc/profile sets PATH anew.
      try writeFile(
        world.server.remoteHome + "/.bash_profile", Array("PATH=\(utilities):$PATH\n".utf8))
      let head = try await world.pocket("run", "--", "sh", "-c", "command -v head; command -v tail")
        .run()
      #expect(head.outputText == "\(utilities)/head\n\(utilities)/tail\n", "\(head.errorText)")
      try await runsCancelsAndResumes(world)
    }
  }

  @Test(
    .enabled(if: Namespaces.arePossible, "needs root on Linux, to give sshd a PID 1 of its own"),
    arguments: FirstProcess.allCases)
  func aFirstProcessThatReapsAndOneThatDoesNot(_ first: FirstProcess) async throws {
    var options = LoopbackServer.Options()
    options.launcher = first.launcher
    try await ProgramWorld.with(options) { world in
      try await runsCancelsAndResumes(world)
    }
  }

  private func runsCancelsAndResumes(_ world: ProgramWorld) async throws {
    let seven = try await world.pocket(
      "run", "--", "sh", "-c", "printf '줄 $x tail'; echo '* ? no' >&2; exit 7"
    ).run()
    #expect(seven.end == .code(7))
    #expect(seven.outputText == "줄 $x tail")
    #expect(seven.errorText == "* ? no\n")

    let script = """
      i=0; while [ $i -lt 200 ]; do echo "줄 $i"; echo "오류 $i" >&2; i=$((i+1)); sleep 0.02; done
      (sh -c 'exit 3' & sh -c 'sleep 0.1' &) ; exit 9
      """
    let client = try world.pocket("run", "-n", "talker", "--", "sh", "-c", script).start()
    try await client.waitForOutput("some lines", deadline: .seconds(60)) { $0.count > 300 }
    client.signal(SIGKILL)
    _ = try await client.exit()
    let resumed = try await world.pocket("resume", "talker").run()
    #expect(resumed.end == .code(9), "\(resumed.errorText.suffix(500))")
    #expect(resumed.outputText == (0..<200).map { "줄 \($0)\n" }.joined())
    #expect(resumed.errorText == (0..<200).map { "오류 \($0)\n" }.joined())
    #expect(try await world.pocket("verify", "talker").run().end == .code(0))

    let id = try await world.start("sleep 3000 & setsid sleep 3000 & (sleep 3000 &); wait")
    #expect(try await world.pocket("show", "--refresh", "\(id)").succeed().contains("running"))
    let cancelled = try await world.pocket("cancel", "\(id)").run()
    #expect(cancelled.end == .code(0), "\(cancelled.errorText)")
    #expect(try ProcessEntry.carrying("POCKET_JOB=\(id)").isEmpty)
    #expect(try await world.pocket("resume", "\(id)").run().end == .code(143))
    #expect(try await world.pocket("rm", "\(id)", "talker").run().end == .code(0))
  }
}
