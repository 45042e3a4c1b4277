import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct LoopbackServerTests {
  @Test func aCommandRunsInTheTemporaryHomeWithItsStartupFiles() async throws {
    try await withLoopbackServer { server in
      try writeFile("\(server.remoteHome)/.bash_profile", Array("export GREETING=안녕\n".utf8))
      let text = try await server.ssh("bash -lc 'echo $GREETING; cd; pwd'").succeed()
      #expect(text == "안녕\n\(server.remoteHome)")
    }
  }

  @Test func nothingIsLeftAfterTheScope() async throws {
    let (port, home, left) = try await withLoopbackServer { server in
      try await server.ssh(
        "(setsid env HOME=/ POCKET_JOB=abcdefghijkl sleep 100 & setsid sleep 100 &) >&- 2>&- <&-"
      ).succeed()
      // As a job would: the folder names the cookie.
      try await server.ssh("mkdir -p ~/.pocket/jobs/abcdefghijkl").succeed()
      let carriers = try ProcessEntry.carrying("POCKET_JOB=abcdefghijkl")
      let homed = try ProcessEntry.carrying("HOME=\(server.remoteHome)")
      #expect(carriers.count == 1)
      #expect(homed.count == 1)
      return (server.port, server.remoteHome, carriers + homed)
    }
    for process in left { #expect(ProcessEntry(pid: process.pid)?.isAlive != true) }
    #expect(!fileExists(home))
    #expect(throws: SystemError.self) { try connectToLoopback(port: port) }
  }

  @Test func killingTheConnectionsOwnServerBreaksTheConnection() async throws {
    try await withLoopbackServer { server in
      let client = try server.ssh("echo here; sleep 100").start()
      try await client.waitForOutput("the command's first line") { !$0.isEmpty }
      let connections = try server.connections()
      #expect(connections.count == 1)
      for pid in connections { kill(pid, SIGKILL) }
      #expect(try await client.exit(deadline: .seconds(10)).end == .code(255))
      #expect(try await server.ssh("echo again").succeed() == "again")
    }
  }

  @Test func theServerCanGoAwayAndComeBackOnTheSamePort() async throws {
    try await withLoopbackServer { server in
      try await server.stopListening()
      #expect(try await server.ssh("true").run().end == .code(255))
      try await server.startListening()
      try await server.ssh("true").succeed()
    }
  }

  @Test func sshdCanBeAsStrictAsAnyHost() async throws {
    var options = LoopbackServer.Options()
    options.offersSFTP = false
    let folder = try TemporaryFolder("banner")
    let banner = try folder.write("banner", "no trespassing\n")
    options.serverConfiguration = ["ForceCommand echo forced", "Banner \(banner)"]
    try await withLoopbackServer(options) { server in
      let result = try await server.ssh("echo asked").run()
      #expect(result.outputText == "forced\n" && result.errorText.contains("no trespassing"))
      let sftp = Command("ssh", ["-F", server.sshConfiguration, "-s", server.alias, "sftp"])
      let refused = try await sftp.run()
      #expect(refused.code != 0 && refused.errorText.contains("subsystem request failed"))
    }
  }

  @Test func sshdLimitsSessionsOfAConnectionAndConnectionsThatAreNew() async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["MaxSessions 1", "MaxStartups 2:100:2"]
    try await withLoopbackServer(options) { server in
      let shared = ["-o", "ControlPath=\(server.folder["control"])"]
      let master = try server.ssh(
        "echo here; sleep 100", arguments: shared + ["-o", "ControlMaster=yes"]
      ).start()
      try await master.waitForOutput("the first session") { !$0.isEmpty }
      let second = try await server.ssh(
        "echo second", arguments: shared + ["-o", "ProxyCommand=false"]
      ).run()
      #expect(second.code != 0 && second.output.isEmpty)
      // Two that have not logged in are as many as there may be.
      let waiting = try (0..<2).map { _ in try connectToLoopback(port: server.port) }
      defer { for socket in waiting { close(socket) } }
      try await onOwnThread {
        var byte: UInt8 = 0
        for socket in waiting { #expect(read(socket, &byte, 1) == 1, "sshd's banner") }
      }
      let third = try await server.ssh("echo third").run()
      #expect(third.code == 255 && third.output.isEmpty)
    }
  }

  @Test func aServerThatCannotStartSaysWhy() async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["NoSuchOption yes"]
    let error = await #expect(throws: ServerDidNotStart.self) {
      try await LoopbackServer.start(options)
    }
    #expect(error?.description.contains("NoSuchOption") == true)
  }

  @Test func tenAtOnceDoNotMeet() async throws {
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<10 {
        group.addTask {
          try await withLoopbackServer { server in
            let home = try await server.ssh("echo $HOME").succeed()
            return home == server.remoteHome ? home : "\(home), not \(server.remoteHome)"
          }
        }
      }
      var homes: Set<String> = []
      for try await home in group { homes.insert(home) }
      #expect(homes.count == 10)
    }
  }
}
