import JobModel
import JobStore
import Testing

@testable import pocket

/// What `cancel` says and keeps where no host is. What it does to processes is tested over a real
/// sshd.
@Suite struct CancelCommandTests {
  let world: World

  init() throws { world = try World() }

  @Test func aRefusedLoginKeepsTheWish() async throws {
    let job = try await world.add("aaaaaaaaaaa1")
    let outcome = await world.run("cancel", "@", "--grace", "1m", "--group-only")
    #expect(outcome.code == 255 && outcome.output.isEmpty)
    #expect(
      outcome.errors == """
        pocket: cancelling aaaaaaaaaaa1 on dev1
        pocket: dev1: no such test host (the cancel is queued and will be carried out at the next contact)

        """)
    let wish = try await world.store().intents(of: job.id).first?.wish
    #expect(wish.flatMap { CancelWish($0) } == CancelWish(grace: 60, reach: .group))
    let json = await world.run("cancel", "@", "--json", "--left-over")
    #expect(json.code == 255 && json.errors.hasPrefix(#"{"error":{"code":"authentication","#))
    let newest = try await world.store().intents(of: job.id).first?.wish
    #expect(newest.flatMap { CancelWish($0) } == CancelWish(leftovers: .end))
  }

  @Test func allWishesAreWrittenDownAndAHostIsTriedOnce() async throws {
    try await world.add("aaaaaaaaaaa1")
    try await world.add("bbbbbbbbbbb2")
    let outcome = await world.run("cancel", "aaaa", "bbbb")
    #expect(outcome.code == 255)
    #expect(outcome.errors.split(separator: "\n").filter { $0.contains("cancelling") }.count == 1)
    #expect(outcome.errors.split(separator: "\n").filter { $0.contains("queued") }.count == 2)
    #expect(try await world.store().intents().count == 2)
  }

  @Test(arguments: ["", "x", "-1", "1.5", "2h", "3601", "99999999999999999999"])
  func aGraceThatIsNoneIsRefused(_ text: String) async throws {
    try await world.add("aaaaaaaaaaa1")
    let outcome = await world.run(words: ["cancel", "@", Word("--grace=\(text)")])
    #expect(outcome.code == 64 && outcome.errors.contains("10, 10s or 1m"), "\(outcome.errors)")
    #expect(try await world.store().intents().isEmpty)
  }

  @Test(arguments: [("0", 0), ("10", 10), ("10s", 10), ("1m", 60), ("1h", 3600)])
  func aGraceIsSecondsOrHasAUnit(_ text: String, _ seconds: Int) async throws {
    let job = try await world.add("aaaaaaaaaaa1")
    await world.run(words: ["cancel", "@", "--grace", Word(text)])
    let wish = try await world.store().intents(of: job.id).first?.wish
    #expect(wish.flatMap { CancelWish($0) } == CancelWish(grace: seconds))
  }

  @Test func aQueuedCancelIsShownWithTheJob() async throws {
    let job = try await world.add("aaaaaaaaaaa1")
    try await world.store().addIntent(.cancel, for: job.id, at: World.now - 7200)
    #expect(
      await world.run("ls").output.contains(
        "\n              cancel queued 2 h ago, waits for dev1\n"))
    #expect(
      await world.run("show", "@").output.contains(
        "\n  next     cancel queued 2 h ago, waits for dev1: pocket cancel aaaaaaaaaaa1\n"))
    #expect(await world.run("ls", "--json").output.contains(#""cancelWantedAt":1764478800,"#))
  }
}
