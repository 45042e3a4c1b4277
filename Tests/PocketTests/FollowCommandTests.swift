import JobModel
import JobStore
import TestSupport
import Testing

@testable import pocket

/// What `run`, `resume`, `wait` and their like do around the work: printing, marks, exit codes. The
/// work over a real sshd is tested elsewhere.
@Suite struct FollowCommandTests {
  let world: World

  init() throws { world = try World() }

  @Test func offATerminalResumeGivesTheWholeOutputEveryTime() async throws {
    try await world.add(
      "aaaaaaaaaaa1", output: [(.out, "one\ntail"), (.err, "e\n")], end: .code(7))
    for _ in 0..<2 {
      #expect(
        await world.run("resume", "@")
          == World.Outcome(code: 7, output: "one\ntail", errors: "e\n"))
    }
  }

  @Test func onATerminalResumeGoesOnAfterWhatWasShown() async throws {
    let job = try await world.add("aaaaaaaaaaa1", output: [(.out, "one\ntwo\n"), (.err, "e\n")])
    let store = try await world.store()
    let terminal = world.onTerminal()
    try await store.setShownMark(
      StreamPosition(generation: 0, offset: ByteOffset(4)), of: job.id, .out)
    _ = await terminal.run("resume", "@")
    #expect(terminal.output.text == "two\n")
    #expect(terminal.errors.text.contains("e\n"))
    try await world.append("three\n", to: job.id, .out)
    _ = await terminal.run("resume", "@")
    #expect(terminal.output.text == "three\n")
    #expect(try await store.shownMark(of: job.id, .out)?.offset == ByteOffset(14))
    #expect(try await store.shownMark(of: job.id, .err)?.offset == ByteOffset(2))
    _ = await terminal.run("resume", "@", "--from", "start")
    #expect(terminal.output.text == "one\ntwo\nthree\n")
    _ = await terminal.run("resume", "@", "--from", "now")
    #expect(terminal.output.text.isEmpty)
  }

  @Test func offATerminalNoMarkMoves() async throws {
    let job = try await world.add("aaaaaaaaaaa1", output: [(.out, "one\n")], end: .code(0))
    await world.run("resume", "@")
    #expect(try await world.store().shownMark(of: job.id, .out) == nil)
    await world.onTerminal().run("logs", "@")
    #expect(try await world.store().shownMark(of: job.id, .out) == nil)
  }

  @Test func anAgentsTextIsNotShownTwiceAcrossAMark() async throws {
    func text(_ words: String) -> String {
      #"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"\#(words)"}]}}"#
        + "\n"
    }
    let result = #"{"type":"result","subtype":"success","is_error":false,"result":"two"}"# + "\n"
    let job = try await world.add(
      "aaaaaaaaaaa1", agent: "claude", output: [(.out, text("one") + text("two"))])
    let terminal = world.onTerminal()
    _ = await terminal.run("resume", "@")
    #expect(terminal.output.text == "one\ntwo\n")
    try await world.append(result, to: job.id, .out)
    _ = await terminal.run("resume", "@")
    #expect(terminal.output.text.isEmpty)
  }

  @Test func aGapIsToldBetweenTheGenerations() async throws {
    let job = try await world.add("aaaaaaaaaaa1", output: [(.out, "old\n")])
    let store = try await world.store()
    #expect(
      try await store.endGeneration(
        of: job.id, .out, generation: 0, reason: .shrunk, at: ByteOffset(4)))
    try await world.append("new\n", to: job.id, .out)
    let outcome = await world.run("logs", "@")
    #expect(outcome.output == "old\nnew\n")
    #expect(outcome.errors.contains("out was cut, replaced or rewritten on dev1"))
  }

  @Test(
    arguments: [
      (.code(0), false, 0), (.code(255), false, 255), (.signal(9), false, 137),
      (.unknown(130), false, 130), (.code(0), true, 143),
    ] as [(JobModel.ExitStatus, Bool, Int32)])
  func theExitCodeIsTheJobsOwn(_ status: JobModel.ExitStatus, _ isCancelled: Bool, _ code: Int32)
    async throws
  {
    try await world.add("aaaaaaaaaaa1", end: status, isCancelled: isCancelled)
    #expect(await world.run("resume", "@").code == code)
    #expect(await world.run("wait", "@").code == code)
    #expect(await world.run("logs", "@").code == 0)
  }

  @Test(
    arguments: [
      (.lost(.removed), 125, "its directory on the host was removed"),
      (.neverStarted(.refused(.program, words: "no x")), 127, "no such program: no x"),
      (.neverStarted(.refused(.permission, words: "w")), 126, "may not be run"),
      (.neverStarted(.refused(.cwd, words: "w")), 126, "cannot enter the directory"),
      (.cancelled(nil), 143, "before it started"),
    ] as [(JobState, Int32, String)])
  func otherEndsAreToldInWordsAndByCode(
    _ state: JobState, _ code: Int32, _ words: String
  ) async throws {
    let store = try await world.store()
    let job = Job(
      id: try #require(JobID("aaaaaaaaaaa1")), host: "dev1",
      request: JobRequest(arguments: [[0x61]]), createdAt: World.now)
    try await store.insert(job)
    if case .lost = state { try await store.record(.running, for: job.id) }
    try await store.record(state, for: job.id)
    let outcome = await world.run("resume", "@")
    #expect(outcome.code == code && outcome.errors.contains(words), "\(outcome)")
  }

  @Test func jsonEndsWithTheJobOnStderr() async throws {
    try await world.add("aaaaaaaaaaa1", output: [(.out, "one\n")], end: .code(125))
    let outcome = await world.run("resume", "@", "--json")
    #expect(outcome.output == "one\n" && outcome.code == 125)
    #expect(outcome.errors.contains(#""code":125"#) && outcome.errors.contains(#""proved":true"#))
  }

  @Test func waitTakesTheFirstCodeThatIsNotZero() async throws {
    try await world.add("aaaaaaaaaaa1", name: "a", end: .code(0))
    try await world.add("bbbbbbbbbbb2", name: "b", end: .code(3))
    try await world.add("ccccccccccc3", name: "c", end: .code(2))
    #expect(await world.run("wait", "a", "b", "c").code == 3)
    #expect(await world.run("wait", "c", "b").code == 2)
    #expect(await world.run("wait", "a", "a").code == 0)
    #expect(await world.run("wait", "a", "nobody").code == 64)
  }

  @Test func rmLocalForgetsHereOnly() async throws {
    try await world.add("aaaaaaaaaaa1", name: "a")
    let outcome = await world.run("rm", "--local", "a")
    #expect(outcome.code == 0 && outcome.errors.contains("aaaaaaaaaaa1 (a) is removed"))
    #expect(try await world.store().jobs().isEmpty)
  }

  @Test func aHostThatLetsNobodyInIs255AndLeavesTheJob() async throws {
    try await world.add("aaaaaaaaaaa1", name: "a")
    for command in ["resume", "rm", "verify", "cancel", "wait"] as [Word] {
      let outcome = await world.run(command, "a")
      #expect(outcome.code == 255, "\(command.shown): \(outcome)")
      #expect(outcome.errors.contains("no such test host"), "\(command.shown)")
    }
    #expect(try await world.store().jobs().count == 1)
    let json = await world.run("verify", "a", "--json")
    #expect(json.errors.hasPrefix(#"{"error":{"code":"authentication","#))
  }
}
