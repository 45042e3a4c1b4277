import JobModel
import TestSupport
import Testing

@testable import pocket

@Suite struct CompletionTests {
  static let answer = CompletionAnswer(
    table: .pocket,
    jobs: {
      ["nightly", "k3f9x2m1q8zt"].map { CompletionAnswer.Candidate(word: $0, note: "a job") }
    },
    hosts: { ["dev1", "dev2", "box"].map { CompletionAnswer.Candidate(word: $0, note: "host") } })

  func words(_ typed: String...) async -> [String] {
    await Self.answer.candidates(for: typed).map(\.word)
  }

  @Test func verbsAreOfferedFirst() async {
    #expect(await words("re") == ["resume"])
    let all = await words("")
    #expect(all.contains("run") && all.contains("help") && !all.contains("__complete"))
    #expect(await words("--v") == ["--version"])
  }

  @Test func optionsOfTheCommandAreOffered() async {
    #expect(await words("run", "--de") == ["--detach"])
    #expect(await words("resume", "--fr") == ["--from"])
    #expect(await words("nonsense", "--de") == [])
  }

  @Test func valuesAreOfferedWhereverTheyAreWritten() async {
    #expect(await words("run", "-H", "d") == ["dev1", "dev2"])
    #expect(await words("run", "-dH", "b") == ["box"])
    #expect(await words("run", "--host", "d") == ["dev1", "dev2"])
    #expect(await words("run", "--host=d") == ["--host=dev1", "--host=dev2"])
    // bash takes `--host=d` for three words, and wants the last alone.
    #expect(await words("run", "--host", "=", "d") == ["dev1", "dev2"])
    #expect(await words("run", "--host", "=") == ["dev1", "dev2", "box"])
    #expect(await words("run", "-a", "") == ["claude", "codex"])
    #expect(await words("resume", "@", "--from", "s") == ["start", "shown"])
    #expect(await words("run", "--transport", "") == ["auto", "libssh2", "openssh"])
  }

  @Test func jobsAreOfferedAsOftenAsTheyAreTaken() async {
    #expect(await words("resume", "n") == ["nightly"])
    #expect(await words("resume", "nightly", "") == [])
    #expect(await words("wait", "nightly", "") == ["k3f9x2m1q8zt"])
    #expect(await words("wait", "--json", "") == ["nightly", "k3f9x2m1q8zt"])
  }

  @Test func whereAFileOrACommandIsWantedTheShellDoesIt() async {
    #expect(await words("run", "-F", "") == [])
    #expect(await words("backup", "") == [])
    #expect(await words("run", "--", "ma") == [])
    #expect(await words("run", "") == [])
  }

  @Test func helpOffersCommandsAndTopics() async {
    #expect(await words("help", "se") == ["settings"])
    #expect(await words("help", "ru") == ["run"])
  }

  @Test func jobsAndHostsComeFromTheStoreAndTheSSHConfig() async throws {
    let world = try World(environment: ["POCKET_SSH_CONFIG": "ssh_config"])
    try world.folder.write(
      "work/ssh_config",
      "Host box *.example !no\n  HostName x\nhost=\"lab\" dev2\r\nMatch host y\n#Host no\n")
    try await world.add("aaaaaaaaaaa1", on: "dev1", name: "nightly", end: .code(0))
    #expect(
      await world.run("__complete", "--", "resume", "").output
        == "nightly\tfinished, exit 0, dev1: make test\n")
    #expect(
      await world.run("__complete", "--", "run", "-H", "").output
        == "dev1\thost\nbox\thost\nlab\thost\ndev2\thost\n")
  }

  @Test func aCompletionMakesNoStore() async throws {
    let world = try World()
    #expect(await world.run("__complete", "--", "resume", "").output.isEmpty)
    #expect(!fileExists(world.folder["store"]))
  }

  @Test func anUnknownShellIsAnErrorThatNamesTheKnown() async throws {
    let outcome = await (try World()).run("completions", "tcsh")
    #expect(outcome.code == 64 && outcome.errors.contains("bash, zsh, fish"))
  }

  /// The stubs in the shells themselves, with a `pocket` that says what it was asked.
  @Test(arguments: CompletionStub.allCases) func theStubWorksInItsShell(_ stub: CompletionStub)
    async throws
  {
    let folder = try TemporaryFolder("stub")
    try folder.write(
      "pocket",
      "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \(folder["asked"])\nprintf 'dev1\\thost\\ndev2\\thost\\n'\n",
      mode: 0o700)
    try folder.write("stub", stub.text)
    let script =
      switch stub {
      case .bash:
        """
        . \(folder["stub"]); COMP_WORDS=(\(folder["pocket"]) run -H de); COMP_CWORD=3
        _pocket \(folder["pocket"]) de -H; printf '%s\\n' "${COMPREPLY[@]}"
        """
      case .zsh:
        """
        compdef() { :; }; _describe() { print -rl -- "${found[@]%%:*}"; }
        . \(folder["stub"]); words=(\(folder["pocket"]) run -H de); CURRENT=4; _pocket
        """
      case .fish:
        "source \(folder["stub"]); complete -C '\(folder["pocket"]) run -H de' | string split -f1 \\t"
      }
    try folder.write("script", script)
    let path = "\(folder.path):/usr/bin:/bin"
    let result = try await TestSupport.Command(
      stub.rawValue, [folder["script"]],
      environment: ["PATH": path, "HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
    ).run()
    #expect(result.outputText == "dev1\ndev2\n", "\(result.errorText)")
    #expect(try readText(folder["asked"]) == "__complete -- run -H de\n")
  }
}
