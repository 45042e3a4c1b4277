import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct ConfigurationTests {
    @Test(
      arguments: [
        ("dev1", nil, "dev1", nil), ("root@dev1", "root", "dev1", nil),
        ("me@10.0.0.1:2222", "me", "10.0.0.1", 2222), ("dev1:22", nil, "dev1", 22),
        ("[::1]:2200", nil, "::1", 2200), ("[::1]", nil, "::1", nil), ("::1", nil, "::1", nil),
        ("a@[fe80::1%eth0]:22", "a", "fe80::1%eth0", 22), ("a_b.c-d", nil, "a_b.c-d", nil),
        ("a@b@c", "a@b", "c", nil),
      ] as [(String, String?, String, UInt16?)])
    func aHostNameIsTakenApart(
      text: String, user: String?, name: String, port: UInt16?
    ) throws {
      let host = try HostName(text)
      #expect(host.user == user)
      #expect(host.name == name)
      #expect(host.port == port)
    }

    @Test(arguments: [
      "", "-oProxyCommand=touch /tmp/x", "-bad@host", "a@-bad", "me@", "@host", "host:", "host:0",
      "host:99999", "host:x", "a b", "a;b", "$(id)", "`id`", "a'b", "a\"b", "a|b", "a\\b", "a/b",
      "../x", "a\nb", "a\u{0}b", "a\u{7F}", "höst", "dev\u{2028}1", "[::1", "::1]", "[::1]x",
      "[-x]", "[]", "a,b", "a=b", "*", "a?b", "~x", "a#b", "host:٣",
    ])
    func aBadHostNameIsRefused(text: String) {
      #expect {
        try HostName(text)
      } throws: { error in
        (error as? SSHError)?.kind == .badConfiguration
      }
    }

    @Test(arguments: [
      "KnownHostsCommand": "KnownHostsCommand /bin/echo", "PKCS11Provider": "PKCS11Provider /x.so",
      "ProxyUseFdpass": "ProxyUseFdpass yes\n  ProxyCommand nc %h %p",
      "%C": "IdentityFile ~/%C",
    ])
    func whatOnlySSHCanDoIsNamedAndNeverIgnored(name: String, line: String) async throws {
      let error = try await sshError { _ = try await configuration([line]) }
      #expect(error.kind == .badConfiguration)
      #expect(error.message.contains(name))
      #expect(error.beyondLibSSH2?.contains(name) == true)
    }

    private func configuration(
      _ lines: [String], _ host: String = "h", isolation: isolated (any Actor)? = #isolation
    ) async throws -> HostConfiguration {
      let folder = try TemporaryFolder("config")
      let file = try folder.write(
        "ssh_config", "Host *\n  " + lines.joined(separator: "\n  ") + "\n")
      return try await ConfigurationProgram.configuration(of: HostName(host), file: file)
    }

    /// ssh ends each of its lines with CR and LF.
    @Test func whatSSHSaysOfABadConfigurationIsToldInOneLine() async throws {
      let error = try await sshError { _ = try await configuration(["Bogus yes"]) }
      #expect(error.kind == .badConfiguration)
      #expect(error.message.contains("Bad configuration option: bogus; "), "\(error.message)")
      #expect(!error.message.utf8.contains { $0 < 0x20 })
    }

    @Test func whatTheConfigurationSaysOfTheWayIsRead() async throws {
      let set = try await configuration([
        "AddressFamily inet6", "BindAddress 127.0.0.2", "BindInterface lo", "ConnectTimeout 7",
        "ConnectionAttempts 3", "TCPKeepAlive no", "ServerAliveInterval 1",
        "ServerAliveCountMax 2", "ProxyCommand  nc  %h %p", "CheckHostIP yes",
        "HashKnownHosts yes", "StrictHostKeyChecking off", "HostKeyAlias other",
        "RevokedHostKeys ~/%n/r", "Ciphers aes128-ctr,aes256-ctr",
      ])
      var network = NetworkSettings()
      (network.addressFamily, network.bindAddress, network.bindInterface) = (
        .inet6, "127.0.0.2", "lo"
      )
      (network.connectTimeout, network.attempts, network.keepsTCPAlive) = (.seconds(7), 3, false)
      (network.aliveInterval, network.aliveCount) = (.seconds(1), 2)
      network.proxy = .command("nc  %h %p")
      #expect(set.network == network)
      #expect(set.hostKeys.strictness == .acceptNew)
      #expect(set.hostKeys.hashesNames)
      // With an alias, ssh does not look at the address.
      #expect(set.hostKeys.alias == "other" && !set.hostKeys.checksAddress)
      #expect(set.hostKeys.revokedFile == UserFiles.home + "/h/r")
      #expect(set.algorithms.ciphers == ["aes128-ctr", "aes256-ctr"])
      let unset = try await configuration(["Port 22"])
      #expect(unset.network == NetworkSettings())
      #expect(unset.hostKeys.strictness == .ask && unset.hostKeys.revokedFile == nil)
      #expect(try await configuration(["CheckHostIP yes"]).hostKeys.checksAddress)
      let endless = try await configuration(["ConnectTimeout 0"])
      #expect(endless.network.connectTimeout == nil)
      let jump = try await configuration(["ProxyJump me@a:22,b", "ProxyCommand none"])
      #expect(jump.network.proxy == .jump(["me@a:22", "b"]))
    }

    @Test(
      arguments: [
        ("/a /b", ["/a", "/b"]), ("\"/with space/k\" /b", ["/with space/k", "/b"]),
        ("none", []), ("/a%%p", ["/a%p"]), ("\"/two  spaces\" \"/b c\"", ["/two  spaces", "/b c"]),
        ("~/%n/k", [UserFiles.home + "/h/k"]),
      ])
    func filesOfKnownHostsAreToldApart(text: String, paths: [String]) async throws {
      #expect(
        try await configuration(["UserKnownHostsFile \(text)"]).hostKeys.userFiles == paths)
    }

    @Test func aRelativeFileOfKnownHostsIsRefusedByName() async throws {
      let error = try await sshError {
        _ = try await configuration(["UserKnownHostsFile relative"])
      }
      #expect(error.message.contains("UserKnownHostsFile relative"))
    }

    @Test func variablesForTheHostAreTakenFromOurEnvironmentAndTheConfiguration() throws {
      let values = ConfigurationValues(
        "sendenv LC_*\nsendenv LAN?\nsetenv LC_TIME=C\nsetenv A=b c=d\nsetenv E=\n", host: "h")
      let own = ["LC_ALL=x", "lc_x=y", "LANG=", "LC_TIME=y", "LANGUAGE=z", "=odd", "XLC_A=b"]
      let found = RemoteEnvironment(values, own: own.map { [UInt8]($0.utf8) })
      #expect(
        found.variables.map { String(decoding: $0.name + [0x3D] + $0.value, as: UTF8.self) }
          == ["LC_ALL=x", "LANG=", "LC_TIME=C", "A=b c=d", "E="])
    }

    /// Those that AcceptEnv names; the others are no obstacle, to any command.
    @Test func theHostGetsTheVariablesThatItTakes() async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["AcceptEnv YES_*"]
      options.clientConfiguration = ["SetEnv YES_A=\"b c\" NO_A=x YES_B="]
      try await withLoopbackServer(options) { server in
        let transport = try await server.connector().connect()
        for _ in 0..<2 {
          let result = try await transport.run("echo \"$YES_A,${NO_A-unset},${YES_B-unset}\"")
          #expect(result.outputText == "b c,unset,\n")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<8 {
            group.addTask {
              let result = try await transport.run("echo $YES_A")
              #expect(result.outputText == "b c\n")
            }
          }
          try await group.waitForAll()
        }
        await transport.close()
      }
    }

    /// ssh_config(5), TOKENS; the values are those of the host that is behind the hop.
    @Test func aHopIsTakenFromProxyJump() async throws {
      let host = try HostName("me@dev:2222")
      let settings = try await configuration(["HostName dev.example"], "me@dev:2222")
      func hop(_ word: String) throws -> HostName {
        try HostName(jump: word, to: host, settings)
      }
      #expect(try hop("a@b:22") == HostName("a@b:22"))
      #expect(try hop("ssh://a@b:22/") == HostName("a@b:22"))
      #expect(try hop("[::1]:44") == HostName("[::1]:44"))
      #expect(try hop("%r@jump-%h:%p") == HostName("me@jump-dev.example:2222"))
      #expect(try hop("%n%%x") == HostName("dev%x"))
      for bad in ["-oProxyCommand=x", "a b", "$(id)", "a;b", "", "%z", "ssh://"] {
        #expect(throws: SSHError.self, "\(bad)") { try hop(bad) }
      }
    }

    @Test func aBrokenConfigurationIsShownInTheWordsOfSSH() async throws {
      try await withLoopbackServer { server in
        try server.addHost("broken", port: server.port, configuration: ["NoSuchOption yes"])
        let connector = try server.connector("broken")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .badConfiguration)
        #expect(error.message.lowercased().contains("nosuchoption"))
      }
    }

    @Test func aMatchExecThatHangsIsEndedAfterFiveSeconds() async throws {
      let folder = try TemporaryFolder("config")
      let file = folder["ssh_config"]
      try writeFile(file, Array("Match exec \"echo $$ > \(folder["pid"]); sleep 60\"\n".utf8))
      let connector = try SSHConnector(
        host: "dev1", options: ConnectionOptions(configurationFile: file))
      let start = ContinuousClock.now
      let error = try await sshError { _ = try await connector.connect() }
      #expect(error.kind == .badConfiguration)
      #expect(ContinuousClock.now - start < .seconds(8))
      let pid = Int32(try readText(folder["pid"]).split(separator: "\n")[0])!
      try await waitUntil("the end of what ssh -G had started") {
        ProcessEntry(pid: pid)?.isAlive != true
      }
    }

    @Test func tokensInAnIdentityFileAreExpanded() throws {
      let tokens = PathTokens(
        hostName: "h.example", originalName: "h", port: 2222, user: "me", hostKeyAlias: nil,
        host: "h")
      #expect(try tokens.expand("/k/%r@%h:%p/%n%%") == "/k/me@h.example:2222/h%")
      #expect(try tokens.expand("~/.ssh/id") == UserFiles.home + "/.ssh/id")
      #expect(try tokens.expand("%d/id") == UserFiles.home + "/id")
      #expect(try tokens.expand("${PATH}").hasPrefix("/"))
      #expect(throws: SSHError.self) { try tokens.expand("/k/%z") }
      #expect(throws: SSHError.self) { try tokens.expand("${NO_SUCH_VARIABLE}") }
      #expect(throws: SSHError.self) { try tokens.expand("~no-such-user/id") }
    }

    // MARK: Nothing of the user's own

    @Test func aTestNeedsAConfigurationOfItsOwn() async throws {
      precondition(isMarkedAsTest)
      let connector = try SSHConnector(host: "dev1", options: ConnectionOptions())
      let error = try await sshError { _ = try await connector.connect() }
      #expect(error.kind == .badConfiguration)
      #expect(error.message.contains("POCKET_TESTING"))
    }

    @Test(arguments: ["UserKnownHostsFile ~/.ssh/known_hosts", "IdentityFile ~/.ssh/id_ed25519"])
    func aTestNeverTouchesTheUsersOwnFiles(line: String) async throws {
      try await withLoopbackServer { server in
        try server.addHost("real", port: server.port, configuration: [line])
        let connector = try server.connector("real")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .badConfiguration)
        #expect(error.message.contains("/.ssh/"))
      }
    }
  }
}
