import JobModel
import JobStore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@testable import pocket

/// The commands that only read the store, against a real one.
@Suite struct StoreCommandTests {
  let world: World

  init() throws { world = try World() }

  // MARK: ls

  @Test func lsShowsJobsNewestFirstWithStateAndAge() async throws {
    try await world.add("aaaaaaaaaaa1", name: "nightly", output: [(.out, "12345\n")])
    try await world.add(
      "bbbbbbbbbbb2", on: "dev2", command: ["한글", "\u{1B}]0;x\u{7}"], end: .code(7))
    #expect(
      await world.run("ls").output == """
        ID            STATE             SEEN        SIZE  HOST  WHAT
        bbbbbbbbbbb2  finished, exit 7  58 min ago  0 B   dev2  한글 ␛]0;x␇
        aaaaaaaaaaa1  running           60 min ago  6 B   dev1  nightly: make test

        """)
    #expect(await world.run("ls", "-H", "dev1").output.contains("bbbbbbbbbbb2") == false)
  }

  @Test func lsFitsTheTerminal() async throws {
    try await world.add("aaaaaaaaaaa1", command: [String(repeating: "한", count: 100)])
    let output = await world.onTerminal().run("ls").output
    for line in output.split(separator: "\n") { #expect(displayWidth(of: line) <= 80) }
    #expect(output.contains("…"))
    #expect(await world.run("ls").output.contains(String(repeating: "한", count: 100)))
  }

  @Test func lsWithoutJobsSaysHowToStartOne() async throws {
    let outcome = await world.run("ls")
    #expect(outcome.code == 0 && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("pocket: no job yet"))
    #expect(await world.run("ls", "--json") == World.Outcome(code: 0, output: "", errors: ""))
  }

  @Test func lsAsJSONHasAllKeysOnEveryLine() async throws {
    try await world.add("aaaaaaaaaaa1", output: [(.out, "a\n"), (.err, "bc\n")])
    try await world.add("bbbbbbbbbbb2", name: "x", end: .signal(9))
    let output = await world.run("ls", "--json").output
    #expect(
      output == """
        {"agent":null,"agentSession":null,"cancelWantedAt":null,"cappedStreams":[],"code":null,"createdAt":1764482400,"detail":"finished signal 9","endedAt":1764482490,"errBytes":0,"errGeneration":0,"evidence":null,"evidenceAt":null,"host":"dev1","id":"bbbbbbbbbbb2","lateErrBytes":0,"lateErrTaken":0,"lateOutBytes":0,"lateOutTaken":0,"leftoverProcesses":[],"leftovers":[],"limit":null,"maxOutputBytes":null,"name":"x","onMaxOutput":null,"outBytes":0,"outGeneration":0,"outcome":null,"proved":true,"seenAt":1764482490,"signal":9,"silentSince":null,"startedAt":1764482400,"state":"finished","timeoutSeconds":null,"title":"make test"}
        {"agent":null,"agentSession":null,"cancelWantedAt":null,"cappedStreams":[],"code":null,"createdAt":1764482400,"detail":"running","endedAt":null,"errBytes":3,"errGeneration":0,"evidence":null,"evidenceAt":null,"host":"dev1","id":"aaaaaaaaaaa1","lateErrBytes":0,"lateErrTaken":0,"lateOutBytes":0,"lateOutTaken":0,"leftoverProcesses":[],"leftovers":[],"limit":null,"maxOutputBytes":null,"name":null,"onMaxOutput":null,"outBytes":2,"outGeneration":0,"outcome":null,"proved":false,"seenAt":1764482400,"signal":null,"silentSince":null,"startedAt":null,"state":"running","timeoutSeconds":null,"title":"make test"}

        """)
  }

  // MARK: show

  @Test func showTellsAllThatIsKnown() async throws {
    let job = try await world.add("aaaaaaaaaaa1", name: "nightly", output: [(.out, "a\nb\n")])
    let store = try await world.store()
    #expect(
      try await store.endGeneration(
        of: job.id, .out, generation: 0, reason: .rewritten, at: ByteOffset(4)))
    let output = await world.run("show", "nightly").output
    for line in [
      "aaaaaaaaaaa1 (nightly)", "  what     make test", "  host     dev1",
      "  state    running, seen 60 min ago", "gap: the file was rewritten at byte 4",
    ] { #expect(output.contains(line), "\(output)") }
    let json = await world.run("show", "aaaa", "--json").output
    #expect(json.contains(#""id":"aaaaaaaaaaa1""#) && json.hasSuffix("}\n"))
  }

  @Test func aReferenceToNothingOrToSeveralIsAUsageError() async throws {
    try await world.add("aaaaaaaaaaa1", name: "one")
    try await world.add("aaaaaaaaaaa2")
    let nothing = await world.run("show", "zzz")
    #expect(nothing.code == 64 && nothing.errors.contains("pocket ls"))
    let several = await world.run("show", "aaa")
    #expect(several.code == 64)
    for words in ["aaaaaaaaaaa1 (one)", "aaaaaaaaaaa2", "make test"] {
      #expect(several.errors.contains(words))
    }
    #expect(several.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("pocket: ") })
    #expect(
      await world.run("show", "aaa", "--json").errors
        .hasPrefix(#"{"error":{"code":"ambiguous","message":"#))
  }

  // MARK: logs

  @Test func logsGiveEveryStoredByte() async throws {
    try await world.add(
      "aaaaaaaaaaa1",
      output: [(.out, "one\u{1B}[2J\n"), (.err, "오류\r\n"), (.out, "two\ntail")])
    #expect(
      await world.run("logs", "@")
        == World.Outcome(code: 0, output: "one\u{1B}[2J\ntwo\ntail", errors: "오류\r\n"))
  }

  @Test func logsOnATerminalCannotDriveIt() async throws {
    try await world.add("aaaaaaaaaaa1", output: [(.out, "one\u{1B}[2J\n"), (.err, "\u{1B}c\n")])
    let outcome = await world.onTerminal().run("logs", "@")
    #expect(outcome.output == "one␛[2J\n" && outcome.errors == "␛c\n")
  }

  @Test func logsOfAnAgentAreItsTextOrItsRawLines() async throws {
    let line =
      #"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"안녕"}]}}"# + "\n"
    try await world.add("aaaaaaaaaaa1", agent: "claude", output: [(.out, line), (.err, "warn\n")])
    #expect(
      await world.run("logs", "@") == World.Outcome(code: 0, output: "안녕\n", errors: "warn\n"))
    #expect(await world.run("logs", "@", "--json").output == line)
  }

  @Test func aReaderThatIsGoneEndsItQuietly() async throws {
    try await world.add("aaaaaaaaaaa1", output: [(.out, "one\n")])
    world.output.fail(with: EPIPE)
    #expect(await world.run("logs", "@") == World.Outcome(code: 141, output: "", errors: ""))
  }

  @Test func anOutputThatCannotBeWrittenIsAnError() async throws {
    try await world.add("aaaaaaaaaaa1", output: [(.out, "one\n")])
    world.output.fail(with: ENOSPC)
    let outcome = await world.run("logs", "@")
    #expect(outcome.code == 125 && outcome.errors.contains("cannot write the output"))
  }

  // MARK: backup

  @Test func backupCopiesTheStoreAndOverwritesNothing() async throws {
    try await world.add("aaaaaaaaaaa1", output: [(.out, "one\n")])
    #expect(await world.run("backup", "copy.db").code == 0)
    let copy = try await JobStore(at: StoreLocation(path: world.folder["work/copy.db"]))
    #expect(try await copy.jobs().map(\.id.description) == ["aaaaaaaaaaa1"])
    let second = await world.run("backup", "copy.db", "--json")
    #expect(second.code == 1 && second.errors.contains("copy.db exists already"))
  }

  // MARK: bare pocket

  @Test func bareWithoutJobsGivesTheFirstSteps() async throws {
    let outcome = await world.run()
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("No job yet. Three first steps:"))
  }

  @Test func bareTellsWhatNeedsYouRunsAndHasEndedSinceTheLastLook() async throws {
    try await world.add("aaaaaaaaaaa1", end: .code(0))
    try await world.add("bbbbbbbbbbb2")
    let lost = try await world.add("ccccccccccc3", name: "lost")
    try await world.store().record(.lost(.rebooted), at: World.now - 60, for: lost.id)
    #expect(
      await world.run().output == """
        Needs you
        ccccccccccc3  lost (host rebooted)  60 s ago  0 B  dev1  lost: make test
                      see how far it got: pocket logs lost; to do it again is a new job

        Running
        bbbbbbbbbbb2  running  60 min ago  0 B  dev1  make test

        Ended since you last looked
        aaaaaaaaaaa1  finished, exit 0  58 min ago  0 B  dev1  make test

        """)
    #expect(
      await world.run().output == """
        Running
        bbbbbbbbbbb2  running  60 min ago  0 B  dev1  make test

        """)
    let json = await world.run("--json").output
    #expect(json.contains(#""section":"running""#) && json.contains(#""id":"bbbbbbbbbbb2""#))
  }

  @Test func aQueuedCancelAndUnfetchedOutputNeedYou() async throws {
    let job = try await world.add("aaaaaaaaaaa1")
    let store = try await world.store()
    try await store.addIntent(.cancel, for: job.id, at: World.now)
    #expect(
      await world.run().output.contains(
        "cancel queued 0 s ago, waits for dev1: pocket cancel aaaaaaaaaaa1"))
    let other = try await world.add("bbbbbbbbbbb2", name: "half")
    try await store.record(.finished(.code(0)), at: World.now, for: other.id)
    #expect(await world.run().output.contains("pocket resume half"))
  }

  // MARK: the store itself

  @Test func aStoreThatCannotBeOpenedIsNamed() async throws {
    _ = try world.folder.folder("store")
    try world.folder.write("store/pocket.db", "this is no database, and long enough to be read")
    let outcome = await world.run("ls")
    #expect(outcome.code == 125 && outcome.errors.contains(world.folder["store/pocket.db"]))
  }
}
