import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The program on a terminal (expect(1) plays it), against a real sshd.
@Suite struct TerminalTests {
  /// Runs `pocket ARGUMENTS` on a terminal; `dialogue` is expect's script between start and end.
  func onTerminal(
    _ arguments: String, in world: TerminalWorld, dialogue: String = "",
    environment: [String: String] = [:]
  ) async throws -> CommandResult {
    let script = """
      set timeout 30
      spawn -noecho \(builtProgram("pocket")) {*}$argv
      \(dialogue)
      expect eof
      exit [lindex [wait] 3]
      """
    try writeFile(world.folder["dialogue"], Array(script.utf8))
    return try await Command(
      "sh", ["-c", "exec expect -f \"$0\" -- \(arguments)", world.folder["dialogue"]],
      environment: world.environment.merging(environment) { _, new in new }
    ).run()
  }

  @Test func ctrlCLetsGoAndResumeGoesOnAfterTheLastLine() async throws {
    try await TerminalWorld.with { world in
      let shell = "'i=0; while [ $i -lt 40 ]; do echo line $i; i=$((i+1)); sleep 0.2; done'"
      let first = try await onTerminal(
        "run -n loop -- sh -c \(shell)", in: world,
        dialogue: #"expect "line 3\r"; send "\003""#)
      #expect(first.code == 130, "\(first.outputText)")
      #expect(first.outputText.contains("pocket resume loop"))
      let second = try await onTerminal("resume loop", in: world)
      #expect(second.code == 0, "\(second.outputText)")
      let shown = lines(first) + lines(second)
      #expect(shown == (0..<40).map { "line \($0)" }, "each line once, and none missing")
      #expect(second.outputText.contains("finished, exit 0"))
      #expect(lines(try await onTerminal("resume loop", in: world)).isEmpty)
    }
  }

  /// Design invariant 9.
  @Test func aJobCannotDriveTheTerminal() async throws {
    try await TerminalWorld.with { world in
      let result = try await onTerminal(
        #"run -- printf '\033]0;title\007\033[2J\033[31mred\n'"#, in: world)
      #expect(result.outputText.contains("␛]0;title␇␛[2J\u{1B}[31mred"))
      #expect(!result.outputText.contains("\u{1B}]") && !result.outputText.contains("\u{1B}[2J"))
      let plain = try await onTerminal(
        "logs @", in: world, environment: ["NO_COLOR": "1"])
      #expect(!plain.outputText.contains("\u{1B}"))
    }
  }

  @Test func anUnknownHostKeyIsShownAndAskedAbout() async throws {
    let folder = try TemporaryFolder("known")
    let known = try folder.write("known_hosts", "")
    var options = LoopbackServer.Options()
    options.clientConfiguration = ["StrictHostKeyChecking ask", "UserKnownHostsFile \(known)"]
    try await TerminalWorld.with(options) { world in
      let no = try await onTerminal(
        "run -- true", in: world, dialogue: #"expect "type yes"; send "no\r""#)
      #expect(no.code == 255)
      #expect(no.outputText.contains("SHA256:"))
      #expect(try readText(known).isEmpty)
      let yes = try await onTerminal(
        "run -- echo reached", in: world, dialogue: #"expect "type yes"; send "yes\r""#)
      #expect(yes.code == 0 && lines(yes).contains("reached"), "\(yes.outputText)")
      #expect(try readText(known).contains("ssh-ed25519"))
    }
  }

  @Test func aPromptCanBeWrittenInAnEditor() async throws {
    try await TerminalWorld.with { world in
      try world.folder.write("ed", "#!/bin/sh\nexit 1\n", mode: 0o700)
      let result = try await onTerminal(
        "run -a claude", in: world, environment: ["EDITOR": world.folder["ed"]])
      #expect(result.code == 64 && result.outputText.contains("nothing was started"))
    }
  }

  @Test func whoeverReadsMayLeave() async throws {
    try await TerminalWorld.with { world in
      let script =
        "'\(builtProgram("pocket"))' run -n y -- sh -c 'yes | head -n 200000; sleep 300'"
        + " | head -n 1; echo ${PIPESTATUS[0]}"
      let result = try await Command("bash", ["-c", script], environment: world.environment).run()
      #expect(result.outputText == "y\n141\n" && result.errorText.isEmpty, "\(result.errorText)")
      let cancel = try await Command(
        builtProgram("pocket"), ["cancel", "y"], environment: world.environment
      ).run()
      #expect(cancel.code == 0 && cancel.errorText.contains("nothing of it is alive"))
    }
  }

  /// What the job printed, without what Pocket said.
  private func lines(_ result: CommandResult) -> [String] {
    result.outputText.split(whereSeparator: \.isNewline).map(String.init)
      .map { line in
        // The live line is taken away in front of what follows.
        line.components(after: "\u{1B}[K")
      }
      .filter { $0.hasPrefix("line ") || $0 == "reached" }
  }
}

extension String {
  fileprivate func components(after separator: String) -> String {
    var rest = self[...]
    while let start = rest.indices.first(where: { rest[$0...].hasPrefix(separator) }) {
      rest = rest[start...].dropFirst(separator.count)
    }
    return String(rest)
  }
}

/// A host, and what a `pocket` of the test's own needs to find it.
struct TerminalWorld {
  let server: LoopbackServer
  let folder: TemporaryFolder

  static func with(
    _ options: LoopbackServer.Options = .init(), _ body: (TerminalWorld) async throws -> Void
  ) async throws {
    try await withLoopbackServer(options) { server in
      try await body(TerminalWorld(server: server, folder: try TemporaryFolder("terminal")))
    }
  }

  var environment: [String: String] {
    [
      "HOME": folder.path, "XDG_CONFIG_HOME": folder["config"], "POCKET_HOME": folder["store"],
      "POCKET_SSH_CONFIG": server.sshConfiguration, "POCKET_HOST": server.alias,
      "TERM": "xterm", "COLUMNS": "80",
    ]
  }
}
