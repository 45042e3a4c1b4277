import JobModel
import JobStore
import TestSupport
import Testing

@testable import pocket

/// What `run` makes of its words, files and settings, up to the connection.
@Suite struct RunCommandTests {
  /// Runs a command line against a host that lets nobody in, and gives the request that was stored.
  func request(
    _ words: Word..., environment: [String: String] = [:], input: [UInt8] = [],
    prepare: (World) throws -> Void = { _ in }
  ) async throws -> JobRequest {
    let world = try World(environment: environment)
    try prepare(world)
    let outcome = await run(words, in: world, input)
    #expect(outcome.code == 255, "\(outcome)")
    return try #require(try await world.store().jobs().first).request
  }

  func failure(
    _ words: Word..., environment: [String: String] = [:], input: [UInt8] = [],
    prepare: (World) throws -> Void = { _ in }
  ) async throws -> String {
    let world = try World(environment: environment)
    try prepare(world)
    let outcome = await run(words, in: world, input)
    #expect(outcome.code == 64, "\(outcome)")
    #expect(try await world.store().jobs().isEmpty)
    return outcome.errors
  }

  private func run(_ words: [Word], in world: World, _ input: [UInt8]) async -> World.Outcome {
    await world.run(words: ["run"] + words, input: input)
  }

  @Test func aCommandArrivesAsItWasTyped() async throws {
    let odd = Word([0x24, 0x28, 0xFF, 0x0A, 0x27])
    let request = try await request("-H", "dev1", "-C", odd, "-n", "x", "--", "printf", odd, "-d")
    #expect(request.arguments == [Array("printf".utf8), odd.bytes, Array("-d".utf8)])
    #expect(request.workingDirectory == odd.bytes)
    #expect(request.name == "x")
    #expect(request.agent == nil && !request.readsPrompt && request.prompt.isEmpty)
  }

  @Test func aPromptGoesToTheAgentOnStdin() async throws {
    let request = try await request(
      "-H", "dev1", "-a", "claude", "--agent-arg", "--model", "--agent-arg=x", "고쳐 줘 $(x)")
    #expect(request.agent == "claude" && request.readsPrompt)
    #expect(request.prompt == Array("고쳐 줘 $(x)".utf8))
    #expect(request.arguments.first == Array("claude".utf8))
    #expect(request.arguments.contains(Array("--model".utf8)))
  }

  @Test func aDashReadsThePromptFromStandardInput() async throws {
    let request = try await request("-H", "dev1", "-a", "codex", "-", input: [0xFF, 0x61, 0x0A])
    #expect(request.prompt == [0xFF, 0x61, 0x0A])
  }

  @Test func hostAndAgentComeFromTheSettings() async throws {
    let request = try await request("p") { world in
      try world.folder.write("work/.pocket.json5", "{host: 'dev1', agent: 'codex'}")
    }
    #expect(request.agent == "codex")
  }

  @Test func withoutHostAgentOrPromptTheErrorSaysWhatToDo() async throws {
    #expect(try await failure("--", "ls").contains("POCKET_HOST"))
    #expect(try await failure("-H", "", "--", "ls").contains("POCKET_HOST"))
    #expect(try await failure("-H", "-oProxyCommand=x", "--", "ls").contains("no host name"))
    #expect(try await failure("-H", "dev1", "p").contains("POCKET_AGENT"))
    #expect(try await failure("-H", "d", "-a", "claud", "p").contains("did you mean 'claude'?"))
    #expect(try await failure("-H", "d", "-a", "claude").contains("there is no prompt"))
    #expect(try await failure("-H", "d", "-a", "claude", " \n").contains("prompt is empty"))
    #expect(try await failure("-H", "d", "-a", "claude", "--", "ls").contains("--agent is for"))
    #expect(try await failure("-H", "d", "make", "test").contains("put -- before a command"))
    #expect(try await failure("-H", "d", "-n", "a b", "--", "ls").contains("name of a job"))
  }

  @Test func secretsAreNamedInTheRequestAndKeptNowhere() async throws {
    let request = try await request(
      "-H", "dev1", "--env", "TOKEN", "--env-file", "secrets", "--", "ls",
      environment: ["TOKEN": "geheim-1"]
    ) { world in
      try world.folder.write("work/secrets", "# mine\n\nKEY=geheim-2 = \"x\"\nTOKEN=older\n")
    }
    #expect(request.environmentNames == ["KEY", "TOKEN"])
    #expect(request.arguments == [Array("ls".utf8)])
  }

  @Test func aSecretThatIsNotThereOrNoNameIsAnErrorThatDoesNotShowIt() async throws {
    #expect(try await failure("-H", "d", "--env", "NO_SUCH", "--", "ls").contains("NO_SUCH is not"))
    #expect(try await failure("-H", "d", "--env", "A=b", "--", "ls").contains("no name"))
    let bad = try await failure("-H", "d", "--env-file", "s", "--", "ls") { world in
      try world.folder.write("work/s", "A=1\ngeheim\n")
    }
    #expect(bad.contains("line 2 is not NAME=VALUE") && !bad.contains("geheim"))
    #expect(try await failure("-H", "d", "--env-file", "no", "--", "ls").contains("cannot read"))
  }

  @Test func anEnvFilesValuesStandAsTheyAre() throws {
    let text = "A=1\r\nB= x \n#C=2\n \nD=a=b\nE="
    let found = try CommandContext.assignments(in: Array(text.utf8), path: "f")
    #expect(found.map(\.name) == ["A", "B", "D", "E"])
    #expect(
      found.map { String(decoding: $0.value, as: UTF8.self) } == ["1", " x ", "a=b", ""])
  }

  @Test func onATerminalAnEditorGivesThePrompt() async throws {
    let world = try World().onTerminal()
    let words: [Word] = ["run", "-H", "dev1", "-a", "claude"]
    let outcome = await world.run(words: words, input: Array("written\n".utf8))
    #expect(outcome.code == 255)
    let job = try #require(try await world.store().jobs().first)
    #expect(job.request.prompt == Array("written\n".utf8))
  }

  @Test func aJobThatNeverLeftIsKeptAsNeverStarted() async throws {
    let world = try World()
    let outcome = await world.run("run", "-H", "dev1", "--", "ls")
    #expect(outcome.code == 255 && outcome.errors.contains("no such test host"))
    let job = try #require(try await world.store().jobs().first)
    guard case .neverStarted(.notLaunched) = job.state else {
      Issue.record("\(job.state)")
      return
    }
  }
}

@Suite struct EditorTests {
  @Test func theEditorsFileIsThePromptAndIsGoneAfterwards() async throws {
    let folder = try TemporaryFolder("editor")
    try folder.write("ed", "#!/bin/sh\ntest \"$1\" = -x && printf '고쳐\\n' > \"$2\"\n", mode: 0o700)
    let environment = Environment(["EDITOR": folder["ed"] + " -x", "TMPDIR": folder.path])
    #expect(try await Editor.write(environment) == Array("고쳐\n".utf8))
    #expect(namesInFolder(folder.path) == ["ed"])
  }

  @Test func withoutAnEditorOrWithOneThatFailsNothingIsStarted() async throws {
    await #expect(throws: CommandError.self) { try await Editor.write(Environment()) }
    await #expect(throws: CommandError.self) {
      try await Editor.write(Environment(["VISUAL": "false"]))
    }
  }
}
