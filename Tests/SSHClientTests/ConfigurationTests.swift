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
      "ProxyJump": "ProxyJump other", "ProxyCommand": "ProxyCommand nc %h %p",
      "KnownHostsCommand": "KnownHostsCommand /bin/echo", "BindAddress": "BindAddress 127.0.0.2",
    ])
    func whatIsNotSupportedYetIsNamedAndNeverIgnored(name: String, line: String) async throws {
      try await withLoopbackServer { server in
        try server.addHost("other", port: server.port)
        try server.addHost("special", port: server.port, configuration: [line])
        let connector = try server.connector("special")
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .badConfiguration)
        #expect(error.message.contains(name))
        #expect(error.message.contains("not supported yet"))
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
