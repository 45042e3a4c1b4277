import TestSupport
import Testing

@testable import pocket

/// Secrets that are asked for at the terminal (expect(1) plays it), and by a program in its stead.
@Suite struct QuestionTests {
  static let passphrase = "four secret words here"

  @Test func aPassphraseIsAskedForAndNotShown() async throws {
    try await withEncryptedKey { world in
      let result = try await onTerminal(
        "\(builtProgram("pocket")) run -- echo reached", in: world,
        dialogue: """
          expect "Enter passphrase for key '\(world.server.identityFile)':"
          send "no\\r"
          expect "Wrong passphrase, try again"
          send "\(Self.passphrase)\\r"
          """)
      #expect(result.code == 0 && result.outputText.contains("reached"), "\(result.outputText)")
      #expect(!result.outputText.contains(Self.passphrase))
      let none = try await onTerminal(
        "\(builtProgram("pocket")) run -- echo reached", in: world,
        dialogue: #"expect "Enter passphrase"; send "\004""#)
      #expect(none.code == 255, "\(none.outputText)")
      #expect(none.outputText.contains("No passphrase was given"), "\(none.outputText)")
      let gone = try await onTerminal(
        "\(builtProgram("pocket")) run -n gone -- echo reached", in: world,
        dialogue: #"expect "Enter passphrase"; expect ": "; send "\003""#)
      #expect(gone.code == 130, "\(gone.outputText)")
      #expect(gone.outputText.contains("(gone) was not started"), "\(gone.outputText)")
    }
  }

  @Test(arguments: [#"send "\003""#, "exec kill -TERM $pid", "exec kill -HUP $pid"])
  func aTerminalIsPutBackByASignal(signal: String) async throws {
    try await withEncryptedKey { world in
      // The shell lives on to look.
      let script = """
        trap : INT
        sh -c 'echo pid=$$.; exec \(builtProgram("pocket")) run -- true'
        echo code=$?
        stty -a
        """
      try writeFile(world.folder["look"], Array(script.utf8))
      let result = try await onTerminal(
        "sh \(world.folder["look"])", in: world,
        dialogue: """
          expect -re {pid=([0-9]+)\\.}
          set pid $expect_out(1,string)
          expect "Enter passphrase"
          expect ": "
          exec sh -c "stty -a <[file readlink /proc/$pid/fd/0] | grep -q -- -echo"
          \(signal)
          """)
      #expect(result.outputText.contains(" echo "), "\(result.outputText)")
      #expect(!result.outputText.contains("-echo "), "\(result.outputText)")
      #expect(!result.outputText.contains("code=0"))
    }
  }

  @Test func aStopPutsTheTerminalBackUntilItGoesOn() async throws {
    try await withEncryptedKey { world in
      let script = """
        set -m
        \(builtProgram("pocket")) run -- echo reached
        stty -a
        echo looked
        fg
        """
      try writeFile(world.folder["look"], Array(script.utf8))
      let result = try await onTerminal(
        "bash \(world.folder["look"])", in: world,
        dialogue: """
          expect "Enter passphrase"
          expect ": "
          send "\\032"
          expect "looked"
          expect "Enter passphrase"
          expect ": "
          send "\(Self.passphrase)\\r"
          """)
      let parts = result.outputText.split(separator: "looked")
      #expect(parts.first?.contains(" echo ") == true, "\(result.outputText)")
      #expect(result.outputText.contains("reached"), "\(result.outputText)")
      #expect(!result.outputText.contains(Self.passphrase), "\(result.outputText)")
    }
  }

  @Test func aProgramAsksInTheTerminalsStead() async throws {
    try await withEncryptedKey { world in
      let answers = """
        #!/bin/sh
        printf '%s\\n' "$1" >>'\(world.folder["asked"])'
        printf '%s\\r\\nmore\\n' '\(Self.passphrase)'
        """
      try world.folder.write("askpass", answers, mode: 0o700)
      var environment = world.environment
      environment["SSH_ASKPASS"] = world.folder["askpass"]
      let alone = try await Command(
        builtProgram("pocket"), ["run", "--", "true"], environment: environment
      ).run()
      #expect(alone.code == 255)
      #expect(alone.errorText.contains("ssh-add \(world.server.identityFile)"))
      environment["SSH_ASKPASS_REQUIRE"] = "force"
      let asked = try await Command(
        builtProgram("pocket"), ["run", "--", "echo", "reached"], environment: environment
      ).run()
      #expect(asked.outputText == "reached\n", "\(asked.errorText)")
      let key = world.server.identityFile
      #expect(try readText(world.folder["asked"]) == "Enter passphrase for key '\(key)':\n")
    }
  }

  @Test func whatAProgramIsToldIsHarmless() async throws {
    let folder = try TemporaryFolder("askpass")
    try folder.write("askpass", "#!/bin/sh\nprintf '%s' \"$1\"\n", mode: 0o700)
    let program = AskPassProgram(program: folder["askpass"])
    let answer = await program.ask("a\u{1B}]0;x\nb")
    #expect(answer.map { String(decoding: $0, as: UTF8.self) } == "a␛]0;x b")
    try folder.write("fails", "#!/bin/sh\necho words\nexit 1\n", mode: 0o700)
    #expect(await AskPassProgram(program: folder["fails"]).ask("") == nil)
    #expect(await AskPassProgram(program: folder["missing"]).ask("") == nil)
  }

  @Test func aProgramThatAsksForEverIsLetGo() async throws {
    let folder = try TemporaryFolder("askpass")
    try folder.write("askpass", "#!/bin/sh\necho $$ >'\(folder["pid"])'\nsleep 600\n", mode: 0o700)
    let program = AskPassProgram(program: folder["askpass"])
    let asking = Task { await program.ask("") }
    try await waitUntil("the program") { fileExists(folder["pid"]) }
    asking.cancel()
    #expect(await asking.value == nil)
  }

  /// ssh(1), SSH_ASKPASS and SSH_ASKPASS_REQUIRE.
  @Test(
    arguments: [
      ([:], true, "terminal"), ([:], false, nil), (["SSH_ASKPASS": "p"], false, nil),
      (["SSH_ASKPASS": "p", "DISPLAY": ":0"], false, "p"),
      (["SSH_ASKPASS": "p", "DISPLAY": ":0"], true, "terminal"),
      (["SSH_ASKPASS": "p", "DISPLAY": ""], false, nil),
      (["WAYLAND_DISPLAY": "w"], false, "ssh-askpass"),
      (["SSH_ASKPASS": "p", "SSH_ASKPASS_REQUIRE": "force"], true, "p"),
      (["SSH_ASKPASS": "p", "SSH_ASKPASS_REQUIRE": "prefer", "DISPLAY": ":0"], true, "p"),
      (["SSH_ASKPASS": "p", "SSH_ASKPASS_REQUIRE": "prefer"], true, "terminal"),
      (["SSH_ASKPASS": "p", "SSH_ASKPASS_REQUIRE": "never", "DISPLAY": ":0"], false, nil),
      (["SSH_ASKPASS": "p", "SSH_ASKPASS_REQUIRE": "never", "DISPLAY": ":0"], true, "terminal"),
    ] as [([String: String], Bool, String?)])
  func theEnvironmentSaysWhoAsks(values: [String: String], hasTerminal: Bool, expected: String?) {
    let source = AnswerSource(Environment(values), hasTerminal: hasTerminal)
    switch expected {
    case nil: #expect(source == nil)
    case "terminal": #expect(source == .terminal)
    case let program?: #expect(source == .program(AskPassProgram(program: program)))
    }
  }

  /// Runs a command line on a terminal of its own.
  private func onTerminal(
    _ command: String, in world: TerminalWorld, dialogue: String
  ) async throws -> CommandResult {
    let script = """
      set timeout 30
      spawn -noecho \(command)
      \(dialogue)
      expect eof
      exit [lindex [wait] 3]
      """
    try writeFile(world.folder["dialogue"], Array(script.utf8))
    return try await Command(
      "expect", ["-f", world.folder["dialogue"]], environment: world.environment
    ).run()
  }

  private func withEncryptedKey(_ body: (TerminalWorld) async throws -> Void) async throws {
    try await TerminalWorld.with { world in
      try await Command(
        "ssh-keygen",
        ["-q", "-p", "-a", "1", "-N", Self.passphrase, "-f", world.server.identityFile]
      ).succeed()
      try await body(world)
    }
  }
}
