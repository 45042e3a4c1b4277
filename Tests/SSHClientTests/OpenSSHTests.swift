import TestSupport
import Testing

@testable import SSHClient

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  /// What only the `ssh` program's engine has to do.
  @Suite struct OpenSSHTests {
    @Test func versionsAreRead() throws {
      let debian = try #require(
        SSHProgram(banner: "OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.11 19 Sep 2023\n"))
      #expect(debian.name == "OpenSSH_9.2p1")
      #expect(debian.isAtLeast(8, 7) && debian.isAtLeast(9, 2) && !debian.isAtLeast(9, 10))
      let centos = try #require(SSHProgram(banner: "OpenSSH_7.4p1, OpenSSL 1.0.2k-fips"))
      #expect(!centos.isAtLeast(7, 6) && centos.isAtLeast(7, 4))
      #expect(SSHProgram(banner: "Dropbear v2022.83") == nil)
      #expect(SSHProgram(banner: "OpenSSH_x") == nil)
    }

    /// ssh's own words, as of OpenSSH 9.2.
    @Test func ofAWarningTheFactsAreTold() {
      func told(_ lines: String...) -> SSHError {
        var log = MasterLog()
        for line in lines { log.consume(Array((line + "\r\n").utf8)) }
        return log.failure(host: "dev1")
      }
      let frame = String(repeating: "@", count: 59)
      let changed = told(
        frame, "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @", frame,
        "IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!",
        "The fingerprint for the ED25519 key sent by the remote host is", "SHA256:abc.",
        "Add correct host key in /k to get rid of this message.",
        "Offending ED25519 key in /k:1", "Host key verification failed.")
      #expect(changed.kind == .hostKeyChanged)
      #expect(
        changed.message == "The host shows another key than the known one: SHA256:abc; "
          + "Offending ED25519 key in /k:1")
      let revoked = told(
        frame, "@       WARNING: REVOKED HOST KEY DETECTED!               @", frame,
        "The ED25519 host key for dev1 is marked as revoked.", "Host key verification failed.")
      #expect(revoked.kind == .hostKeyChanged)
      #expect(revoked.message.hasSuffix("key: The ED25519 host key for dev1 is marked as revoked"))
      let cut = told(
        "kex_exchange_identification: Connection closed by remote host",
        "kex_exchange_identification: Connection closed by remote host",
        "Connection closed by UNKNOWN port 65535")
      #expect(cut.message == "kex_exchange_identification: Connection closed by remote host")
    }

    /// Each of these would break a command, hide an end or act twice.
    @Test func theUsersConfigurationCannotGetInTheWay() async throws {
      var options = LoopbackServer.Options()
      let folder = try TemporaryFolder("control")
      options.clientConfiguration = [
        "ControlMaster auto", "ControlPath \(folder["users-own"])", "ControlPersist 60",
        "RequestTTY force", "RemoteCommand echo users-own", "LocalForward 1 127.0.0.1:1",
        "ExitOnForwardFailure yes", "LocalCommand touch \(folder["local-command"])",
        "PermitLocalCommand yes", "EscapeChar ~", "LogLevel QUIET", "ServerAliveInterval 0",
        "StdinNull yes", "ForkAfterAuthentication yes", "SessionType none",
      ]
      try await withConnection(.openssh, options) { transport, _ in
        let result = try await transport.run("cat; exit 3", input: [UInt8]("~.\n~?\n".utf8))
        #expect(result.outputText == "~.\n~?\n" && result.errors.isEmpty)
        #expect(result.exit == .code(3))
        #expect(!fileExists(folder["users-own"]) && !fileExists(folder["local-command"]))
      }
    }

    @Test func theConfigurationsEnvironmentReachesTheCommand() async throws {
      setenv("POCKET_TEST_SENT", "sent", 1)
      setenv("POCKET_TEST_KEPT", "kept", 1)
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["AcceptEnv POCKET_TEST_*"]
      options.clientConfiguration = [
        "SendEnv POCKET_TEST_S*", #"SetEnv POCKET_TEST_A="a b" POCKET_TEST_B=c"#,
      ]
      try await withConnection(.openssh, options) { transport, _ in
        let result = try await transport.run(
          "echo $POCKET_TEST_A/$POCKET_TEST_B/$POCKET_TEST_SENT/$POCKET_TEST_KEPT")
        #expect(result.outputText == "a b/c/sent/\n")
        // A value may be a secret, and everybody can see what runs.
        let command = try await transport.execute("cat")
        let seen = try ProcessEntry.all().filter { $0.arguments.first == "ssh" }
        #expect(!seen.isEmpty)
        #expect(!seen.contains { $0.arguments.contains { $0.contains("POCKET_TEST_A=") } })
        await command.abandon()
      }
    }

    @Test func anUnknownHostKeyIsAskedAboutAndWrittenDown() async throws {
      try await withLoopbackServer { server in
        try writeFile(server.knownHostsFile, [])
        try server.addHost(
          "asks", port: server.port, configuration: ["StrictHostKeyChecking ask"])
        try writeFile(server.knownHostsFile, [])
        let asked = Locked<[HostKeyQuestion]>([])
        func connect(answering answer: Bool) async throws {
          let connector = try server.connector(
            "asks", engine: .openssh,
            ask: { question in
              asked.withLock { $0.append(question) }
              return answer
            })
          await (try await connector.connect()).close()
        }
        let error = try await sshError { try await connect(answering: false) }
        #expect(error.kind == .hostKeyUnknown && error.phase == .hostKey, "\(error)")
        #expect(try readText(server.knownHostsFile).isEmpty)
        try await connect(answering: true)
        let line = try await Command("ssh-keygen", ["-l", "-f", server.folder["host_ed25519.pub"]])
          .succeed()
        let fingerprint = String(line.split(separator: " ")[1])
        let expected = HostKeyQuestion(
          host: "asks", keyType: "ED25519", fingerprint: fingerprint, otherKnownTypes: [])
        #expect(asked.withLock { $0 } == [expected, expected])
        try await connect(answering: false)
        #expect(asked.withLock { $0.count } == 2)
      }
    }

    @Test func withNobodyToAskAnUnknownHostKeyIsRefusedAtOnce() async throws {
      try await withLoopbackServer { server in
        try server.addHost(
          "asks", port: server.port, configuration: ["StrictHostKeyChecking ask"])
        try writeFile(server.knownHostsFile, [])
        let refused = try await sshError {
          _ = try await server.connector("asks", engine: .openssh).connect()
        }
        #expect(refused.kind == .hostKeyUnknown, "\(refused)")
        let transport = try await server.connector(
          "asks", engine: .openssh, acceptNewHostKeys: true
        ).connect()
        #expect(try await transport.run("exit 4").exit == .code(4))
        await transport.close()
      }
    }

    @Test func aPassphraseIsAskedFor() async throws {
      try await withLoopbackServer { server in
        try await Command(
          "ssh-keygen", ["-q", "-p", "-P", "", "-N", "a b'c\\d", "-f", server.identityFile]
        ).succeed()
        let nobody = try await sshError {
          _ = try await server.connector(engine: .openssh).connect()
        }
        #expect(nobody.kind == .authenticationRefused, "\(nobody)")
        let prompts = Locked<[String]>([])
        let answers = Locked(["wrong", "a b'c\\d"])
        let connector = try server.connector(
          engine: .openssh, ask: { _ in false },
          secret: { question in
            prompts.withLock { $0.append(question.prompt) }
            return answers.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) }
          })
        let transport = try await connector.connect()
        #expect(try await transport.run("exit 5").exit == .code(5))
        await transport.close()
        let asked = prompts.withLock { $0 }
        #expect(asked.count == 2)
        #expect(asked.allSatisfy { $0.contains(server.identityFile) }, "\(asked)")
      }
    }

    /// ssh by itself would give up after 6 s, since it takes its keepalives for the login's limit too.
    @Test func aServerThatIsSlowToLetSomebodyInIsWaitedFor() async throws {
      var options = LoopbackServer.Options()
      let folder = try TemporaryFolder("slow")
      let calls = folder["calls"]
      let script =
        "printf x >>\(calls); case $(cat \(calls)) in x|xx) sleep 7;; esac; "
        + "echo %t %k"
      options.serverConfiguration = [
        "AuthorizedKeysFile none",
        "AuthorizedKeysCommand /bin/sh -c \"\(script)\"",
        "AuthorizedKeysCommandUser \(String(cString: getpwuid(geteuid()).pointee.pw_name))",
      ]
      try await withConnection(.openssh, options) { transport, _ in
        let result = try await transport.run("exit 6")
        #expect(result.exit == .code(6))
        // The first was given up.
        let made = try readText(calls)
        #expect(made.hasPrefix("xx"))
      }
    }

    @Test(arguments: enginesUnderTest)
    func aQuestionEndsWithItsConnection(_ engine: EngineChoice) async throws {
      try await withLoopbackServer { server in
        try server.addHost(
          "asks", port: server.port, configuration: ["StrictHostKeyChecking ask"])
        try writeFile(server.knownHostsFile, [])
        let (asked, ended) = (Locked(false), Locked(false))
        let connector = try server.connector(
          "asks", engine: engine,
          ask: { _ in
            asked.withLock { $0 = true }
            do {
              try await Task.sleep(for: .seconds(60))
            } catch {
              ended.withLock { $0 = true }
            }
            return true
          })
        let connecting = Task { try await connector.connect() }
        try await waitUntil("the question") { asked.withLock { $0 } }
        connecting.cancel()
        let error = try await sshError { _ = try await connecting.value }
        #expect(error.kind == .cancelled, "\(error)")
        try await waitUntil("the question's end") { ended.withLock { $0 } }
      }
    }

    @Test func aHopsKeyIsAskedAboutByItsName() throws {
      func question(_ name: String) -> HostKeyQuestion? {
        HostKeyQuestion(
          prompt: "The authenticity of host '\(name)' can't be established.\n"
            + "ED25519 key fingerprint is SHA256:x.\n"
            + "Are you sure you want to continue connecting (yes/no/[fingerprint])?",
          host: "far", shownAs: "[127.0.0.1]:22001")
      }
      #expect(question("[127.0.0.1]:22001 ([127.0.0.1]:22001)")?.host == "far")
      #expect(question("hop (<no hostip for proxy command>)")?.host == "hop, on the way to far,")
    }

    @Test(arguments: enginesUnderTest)
    func aKeyThatAFileRevokesIsRefused(_ engine: EngineChoice) async throws {
      try await withLoopbackServer { server in
        let file = server.folder["host_ed25519.pub"]
        try server.addHost(
          "revoked", port: server.port, configuration: ["RevokedHostKeys \(file)"])
        let error = try await sshError {
          _ = try await server.connector("revoked", engine: engine).connect()
        }
        #expect(error.kind == .hostKeyChanged && error.phase == .hostKey, "\(error)")
      }
    }

    /// `ssh -S` without its master goes on with a connection of its own, unless that is forbidden.
    @Test func aChannelWithoutItsMasterDoesNotConnect() async throws {
      let host = try HostName("127.0.0.1")
      let arguments = MasterArguments(
        host: host, program: try #require(SSHProgram(banner: "OpenSSH_9.2p1")),
        settings: ConfigurationValues("", host: host.text),
        configurationFile: nil, acceptsNewHostKeys: false, mayAsk: false)
      let folder = try ControlFolder(host: host.text)
      defer { folder.remove() }
      try folder.makeFile(MasterArguments.environmentFile, arguments.environment)
      let line = arguments.channel(folder, log: "log", "true")
      let result = try await Command(line[0], Array(line.dropFirst())).run()
      #expect(result.end == .code(255))
      let log = try readText(folder.path + "/log")
      #expect(log.contains("Control socket") && !log.contains("Connecting to"), "\(log)")
    }

    @Test func aKilledMasterEndsEveryCallAndIsNotReplaced() async throws {
      try await withConnection(.openssh) { transport, server in
        let master = try #require(try masters(of: server).first)
        let process = try await transport.execute("echo begun; sleep 100")
        try await process.readLines(1)
        kill(master.pid, SIGKILL)
        let error = try await within(.seconds(10), "noticing") {
          try await sshError { _ = try await process.read() }
        }
        #expect(error.kind == .unreachable)
        await #expect(throws: SSHError.self) { try await transport.execute("true") }
        #expect(server.log.split(separator: "\n").count { $0.contains("Accepted") } == 1)
      }
    }

    @Test(arguments: [
      ("HostName 127.0.0.1\n  Port 1", SSHError.Phase.connect, SSHError.Kind.unreachable),
      ("HostName no-such-host.invalid", .resolve, .unreachable),
      ("ProxyCommand exit 1", .banner, .unreachable),
      ("Nonsense yes", .configuration, .badConfiguration),
    ])
    func whatFailsIsTold(
      _ lines: String, _ phase: SSHError.Phase, _ kind: SSHError.Kind
    ) async throws {
      precondition(isMarkedAsTest)
      let folder = try TemporaryFolder("failing")
      let configuration = """
        Host x
          \(lines)
          IdentityFile none
          UserKnownHostsFile /dev/null
        """
      try folder.write("ssh_config", configuration)
      let connector = try SSHConnector(
        host: "x",
        options: ConnectionOptions(engine: .openssh, configurationFile: folder["ssh_config"]))
      let error = try await within(.seconds(30), "the failure") {
        try await sshError { _ = try await connector.connect() }
      }
      #expect(error.phase == phase && error.kind == kind, "\(error)")
    }
  }
}

/// The living masters that this server's clients have started.
func masters(of server: LoopbackServer) throws -> [ProcessEntry] {
  try ProcessEntry.all().filter {
    $0.isAlive && $0.arguments.first == "ssh" && $0.arguments.contains("-M")
      && $0.arguments.contains(server.sshConfiguration)
  }
}
