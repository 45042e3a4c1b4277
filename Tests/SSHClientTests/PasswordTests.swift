import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  /// Passwords, questions and several steps, by a real sshd with PAM.
  @Suite(
    .enabled(if: Accounts.arePossible, "needs root on Linux, to give one sshd accounts of its own"))
  struct PasswordTests {
    static let right = Accounts.password
    /// Users, and sshd's AuthenticationMethods for each.
    static let users = [
      "pocket-any": nil, "pocket-password": "publickey,password",
      "pocket-kbdint": "publickey,keyboard-interactive:pam",
      "pocket-keys": "publickey,publickey",
    ]

    @Test func aMistypedPasswordIsAskedForAgain() async throws {
      try await withAccounts { server in
        let answers = Answers("wrong", Self.right)
        let refusal = try await refusal(server, "pocket-any", answers, ["\(only) password"])
        #expect(refusal == nil)
        #expect(
          answers.asked.map(\.prompt) == [
            "pocket-any@127.0.0.1's password:",
            "Permission denied, please try again. pocket-any@127.0.0.1's password:",
          ])
        #expect(answers.asked.allSatisfy { !$0.isVisible })

        let wrong = Answers("a", "b", "c", "d")
        let error = try await self.refusal(
          server, "pocket-any", wrong, ["\(only) password", "NumberOfPasswordPrompts 2"])
        #expect(error?.kind == .authenticationRefused)
        #expect(wrong.asked.count == 2)
        #expect(error?.message.contains("it refused a password, a password") == true)
        #expect(error?.message.contains("keyboard-interactive") == true, "what it would take")
      }
    }

    @Test func methodsAreTriedInTheOrderThatIsPreferred() async throws {
      try await withAccounts { server in
        for (order, questions) in [
          ("publickey,password", 0), ("password,publickey", 1), ("hostbased,publickey", 0),
        ] {
          let answers = Answers(Self.right)
          let refusal = try await refusal(server, "pocket-any", answers, ["\(only) \(order)"])
          #expect(refusal == nil, "\(order)")
          #expect(answers.asked.count == questions, "\(order)")
        }
      }
    }

    @Test func itsOwnQuestionsAreAskedThroughPAM() async throws {
      try await withAccounts { server in
        let lines = ["\(only) keyboard-interactive"]
        let answers = Answers("wrong", Self.right)
        #expect(try await refusal(server, "pocket-any", answers, lines) == nil)
        let prompt = "(pocket-any@127.0.0.1) Password:"
        #expect(answers.asked.map(\.prompt) == [prompt, prompt])

        // Whoever is asked may leave; the server must then see no wrong answer.
        let before = server.log.utf8.count
        let none = Answers()
        let error = try await refusal(server, "pocket-any", none, lines)
        #expect(error?.kind == .authenticationRefused)
        #expect(error?.message.contains("was not answered") == true)
        func since() -> String {
          String(decoding: server.log.utf8.dropFirst(before), as: UTF8.self)
        }
        try await waitUntil("the end of the connection") {
          since().contains("Connection closed") || since().contains("Connection reset")
        }
        #expect(!since().contains("Failed") && !since().contains("failure"), "\(since())")
      }
    }

    @Test func severalStepsAreGoneThrough() async throws {
      try await withAccounts { server in
        for user in ["pocket-password", "pocket-kbdint"] {
          let answers = Answers("wrong", Self.right)
          let refusal = try await refusal(server, user, answers)
          #expect(refusal == nil, "\(user)")
          #expect(answers.asked.count == 2, "\(user)")
        }
        let second = server.folder["second"]
        try await LoopbackServer.makeKey("rsa", second)
        try appendToFile(server.authorizedKeysFile, Array(readText(second + ".pub").utf8))
        let keys = ["IdentityFile \(second)"]
        #expect(try await refusal(server, "pocket-keys", nil, keys) == nil)

        let half = try await refusal(server, "pocket-password", nil)
        #expect(half?.kind == .authenticationRefused)
        #expect(half?.message.contains("took \(server.identityFile) and wants more") == true)
        #expect(half?.message.contains("it takes password") == true)
      }
    }

    @Test func withNobodyToAskNothingIsAsked() async throws {
      try await withAccounts { server in
        let alone = try await refusal(server, "pocket-any", nil, ["\(only) password"])
        #expect(alone?.advice?.contains("there is nobody to ask") == true)
        let answers = Answers(Self.right)
        let batch = try await refusal(
          server, "pocket-any", answers, ["\(only) password", "BatchMode yes"])
        #expect(batch?.kind == .authenticationRefused)
        let off = try await refusal(
          server, "pocket-any", answers,
          [
            "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            "PubkeyAuthentication no",
          ])
        #expect(off?.kind == .authenticationRefused)
        #expect(answers.asked.isEmpty)
      }
    }

    /// sshd hangs up at the sixth refusal.
    @Test func theLastTryIsLeftForAPassword() async throws {
      try await withAccounts { server in
        try await Agent.with(server.folder) { agent in
          for number in 0..<7 {
            let path = server.folder["wrong\(number)"]
            try await LoopbackServer.makeKey("ed25519", path)
            try await agent.add(path)
          }
          let lines = ["IdentityAgent \(agent.socket)", "IdentitiesOnly no"]
          let answers = Answers(Self.right)
          let first = lines + ["PreferredAuthentications publickey,password"]
          #expect(try await refusal(server, "pocket-any", answers, first) == nil)
          #expect(answers.asked.count == 1)
          let error = try await refusal(server, "pocket-any", nil, lines)
          #expect(error?.message.contains("Too many authentication failures") == true)
          #expect(error?.message.contains("it refused test (agent)") == true)
        }
      }
    }

    @Test(arguments: ["password", "keyboard-interactive"])
    func aTaskThatIsCancelledWaitsForNoAnswer(method: String) async throws {
      try await withAccounts { server in
        try server.addHost(
          "cancelled", port: server.port,
          configuration: ["User pocket-any", "\(only) \(method)"])
        let asked = Locked(false)
        let connector = try SSHConnector(
          host: "cancelled",
          options: ConnectionOptions(
            engine: .libssh2, configurationFile: server.sshConfiguration,
            questions: Questions(confirmHostKey: { _ in false }) { _ in
              asked.withLock { $0 = true }
              // Somebody who has gone for lunch.
              try? await Task.sleep(for: .seconds(600))
              return nil
            }))
        let connecting = Task { try await connector.connect() }
        try await waitUntil("the question") { asked.withLock { $0 } }
        connecting.cancel()
        let error = try await within(.seconds(10), "the end") {
          try await sshError { _ = try await connecting.value }
        }
        #expect(error.kind == .cancelled)
      }
    }

    private let only = "PreferredAuthentications"

    private func refusal(
      _ server: LoopbackServer, _ user: String, _ answers: Answers?, _ lines: [String] = []
    ) async throws -> SSHError? {
      try writeFile(server.sshConfiguration, [])
      try server.addHost("x", port: server.port, configuration: ["User \(user)"] + lines)
      return try await server.refusal("x", answers)
    }

    private func withAccounts(_ body: (LoopbackServer) async throws -> Void) async throws {
      let accounts = try await Accounts(Self.users.keys.sorted())
      var options = LoopbackServer.Options()
      options.launcher = accounts.launcher
      options.serverConfiguration = [
        "UsePAM yes", "PasswordAuthentication yes", "KbdInteractiveAuthentication yes",
      ]
      options.matchBlocks = Self.users.sorted { $0.key < $1.key }.compactMap { user, methods in
        methods.map { "Match User \(user)\n  AuthenticationMethods \($0)" }
      }
      try await withLoopbackServer(options) { server in
        try await body(server)
        withExtendedLifetime(accounts) {}
      }
    }
  }
}
