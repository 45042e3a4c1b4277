import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  @Suite struct ProxyCommandTests {
    private func error(
      _ server: LoopbackServer, _ alias: String, _ lines: [String],
      isolation: isolated (any Actor)? = #isolation
    ) async throws -> SSHError {
      try server.addHost(alias, port: server.port, configuration: lines)
      let connector = try server.connector(alias)
      return try await within(.seconds(30), alias) {
        try await sshError { _ = try await connector.connect() }
      }
    }

    /// No `sleep` of so many seconds runs any more.
    private func awaitEnd(
      of argument: String, isolation: isolated (any Actor)? = #isolation
    ) async throws {
      func sleepers() throws -> [ProcessEntry] {
        try ProcessEntry.all().filter { $0.isAlive && $0.arguments == ["sleep", argument] }
      }
      do {
        try await waitUntil("the end of sleep \(argument)") { try sleepers().isEmpty }
      } catch {
        // Else the next run of this test would find what this one has left.
        for sleeper in try sleepers() { _ = kill(sleeper.pid, SIGKILL) }
        throw error
      }
    }

    @Test func aProgramCarriesTheConnection() async throws {
      try await withLoopbackServer { server in
        let seen = server.folder["seen"]
        let lines = [
          // Talkative beyond any pipe's room, at its start and all the time.
          "socat": ["ProxyCommand socat - TCP:%h:%p"],
          "ssh": ["ProxyCommand ssh -F \(server.sshConfiguration) -W %h:%p \(server.alias)"],
          "words": [
            "ProxyCommand sh -c 'echo \"%%,%h,%n,%p,%r\" >\(seen); "
              + "head -c 300000 /dev/zero | tr \"\\0\" x >&2; exec socat - TCP:%h:%p'"
          ],
        ]
        for (alias, lines) in lines {
          try server.addHost(alias, port: server.port, configuration: lines)
          let transport = try await server.connector(alias).connect()
          let size = 5 << 20
          let down = try await transport.run("head -c \(size) /dev/zero")
          #expect(down.output.count == size, "\(alias)")
          let up = try await transport.run("wc -c", input: [UInt8](repeating: 7, count: size))
          #expect(up.outputText.hasPrefix("\(size)"), "\(alias)")
          await transport.close()
          try await waitUntil("no connection left") { try server.connections().isEmpty }
        }
        #expect(
          try readText(seen) == "%,127.0.0.1,words,\(server.port),\(server.user)\n")
      }
    }

    @Test func howTheProgramEndedIsInTheError() async throws {
      try await withLoopbackServer { server in
        let dead = try await error(
          server, "dead", ["ProxyCommand sh -c 'echo one >&2; echo no route >&2; exit 7'"])
        #expect((dead.phase, dead.kind) == (.banner, .unreachable))
        #expect(dead.message.contains("the ProxyCommand ended with exit code 7"))
        #expect(dead.message.contains("“one; no route”"))
        let killed = try await error(server, "killed", ["ProxyCommand sh -c 'kill -9 $$'"])
        #expect(killed.message.contains("the ProxyCommand was ended by signal 9"))
        let missing = try await error(server, "missing", ["ProxyCommand /no/such/program %h"])
        #expect(missing.kind == .badConfiguration)
        #expect(missing.message.contains("exit code 127"))
        #expect(missing.message.contains("/no/such/program"))
      }
    }

    /// One that says nothing; one whose grandchild keeps the pipe; one that ignores SIGTERM, with
    /// its grandchild; and one whose grandchild has left the process group.
    @Test(arguments: [
      (1, "exec sleep 30001", "was still running"),
      (2, "sleep 30002 & exit 3", "ended with exit code 3"),
      (4, "kill -TTIN $$; sleep 30004", "was stopped, since it asks something at the terminal"),
      (3, "trap \"\" TERM; sleep 30003 & sleep 30003", "was still running"),
    ])
    func whateverHangsIsEnded(number: Int, script: String, words: String) async throws {
      try await withLoopbackServer { server in
        let start = ContinuousClock.now
        let silent = try await error(
          server, "silent", ["ProxyCommand sh -c '\(script)'", "ConnectTimeout 1"])
        #expect((silent.phase, silent.kind) == (.banner, .timedOut))
        #expect(silent.message.contains(words), "\(silent.message)")
        // 1 s for the banner, 2 s until SIGKILL.
        #expect(ContinuousClock.now - start < .seconds(15))
        try await awaitEnd(of: "3000\(number)")
      }
    }

    @Test func aGrandchildOutsideTheGroupDoesNotHoldUsUp() async throws {
      try await withLoopbackServer { server in
        // `sleep` leaves the group and keeps all three descriptors for some seconds.
        let silent = try await error(
          server, "silent",
          ["ProxyCommand sh -c 'setsid sleep 20.5 & sleep 0.3; exit 3'", "ConnectTimeout 1"])
        #expect(silent.message.contains("ended with exit code 3"))
      }
    }

    @Test func closingTheConnectionEndsAProgramThatWouldGoOn() async throws {
      try await withLoopbackServer { server in
        // socat is the grandchild; its parent waits for something else.
        let script = "socat - TCP:%h:%p <&3 & sleep 30005"
        try server.addHost(
          "stubborn", port: server.port,
          configuration: ["ProxyCommand sh -c 'exec 3<&0; \(script)'"])
        let transport = try await server.connector("stubborn").connect()
        #expect(try await transport.run("exit 3").exit == .code(3))
        await transport.close()
        try await awaitEnd(of: "30005")
      }
    }

    @Test func aProgramThatDiesEndsTheConnectionInItsWords() async throws {
      try await withLoopbackServer { server in
        // The shell gives a background process no stdin of its own accord.
        let script =
          "exec 3<&0; socat - TCP:%h:%p <&3 & read -r line <\(server.folder["fifo"]); "
          + "echo tunnel down >&2; kill $!"
        try await Command("mkfifo", [server.folder["fifo"]]).succeed()
        try server.addHost(
          "mortal", port: server.port,
          configuration: ["ProxyCommand sh -c '\(script)'"])
        let transport = try await server.connector("mortal").connect()
        let process = try await transport.execute("echo begun; sleep 100")
        try await process.readLines(1)
        try appendToFile(server.folder["fifo"], Array("end\n".utf8))
        let error = try await within(.seconds(10), "noticing") {
          try await sshError { _ = try await process.read() }
        }
        #expect(error.kind == .unreachable)
        #expect(error.message.contains("tunnel down"))
        await transport.close()
      }
    }

    @Test func noByteOfANameBecomesSyntaxOfTheShell() async throws {
      try await withLoopbackServer { server in
        let made = server.folder["made"]
        for (number, name) in ["x;touch \(made)", "$(touch \(made))", "-x", "a b", "`id`"]
          .enumerated()
        {
          let refused = try await error(
            server, "odd\(number)", ["User \"\(name)\"", "ProxyCommand echo %r"])
          #expect(refused.kind == .badConfiguration)
          #expect(refused.message.contains("ProxyCommand"))
        }
        #expect(!fileExists(made))
        let token = try await error(server, "token", ["ProxyCommand echo %z"])
        #expect(token.message.contains("%z"))
        let none = try await error(server, "none", ["ProxyCommand none", "Port \(try freePort())"])
        #expect(none.phase == .connect)
      }
    }
  }
}
