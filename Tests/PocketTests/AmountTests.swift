import JobStore
import Testing

@testable import pocket

/// Lengths of time and numbers of bytes as a user writes them.
@Suite struct AmountTests {
  @Test(arguments: [
    ("1s", 1), ("45s", 45), ("90m", 5400), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600),
    ("0030d", 2_592_000), ("5270w", 3_187_296_000 as Int64),
  ])
  func aLengthOfTime(_ text: String, _ seconds: Int64) {
    // A hundred years are 5270 weeks and some days.
    #expect(DurationText(text)?.seconds == (seconds > 3_162_240_000 ? nil : seconds))
  }

  @Test(arguments: [
    "", "s", "30", "0s", "-1s", "+1s", "1.5h", "1 h", " 1h", "1h ", "1H", "1h30m", "1y", "1d\n",
    "١s",
    "9223372036854775807w", "99999999999999999999s", "40000d",
  ])
  func whatIsNoLengthOfTime(_ text: String) { #expect(DurationText(text) == nil) }

  @Test(arguments: [
    ("1B", 1), ("64k", 64_000), ("64K", 64_000), ("500M", 500_000_000), ("2G", 2_000_000_000),
    ("1T", 1_000_000_000_000), ("64Ki", 65_536), ("1Mi", 1_048_576), ("2Gi", 2_147_483_648),
  ])
  func aNumberOfBytes(_ text: String, _ bytes: Int64) {
    #expect(ByteCountText(text)?.bytes == bytes)
  }

  @Test(arguments: [
    "", "M", "500", "0M", "-1M", "1.5G", "500 M", "500m", "500MB", "500MiB", "1P", "1M\n",
    "9223372036854775807T",
  ])
  func whatIsNoNumberOfBytes(_ text: String) { #expect(ByteCountText(text) == nil) }

  @Test func anErrorNamesTheOptionAndSaysHowToWriteIt() async throws {
    let world = try World()
    for (words, option) in [
      (["--timeout", "2"], "--timeout"), (["--max-output", "500"], "--max-output"),
    ] {
      let outcome = await world.run(
        words: ["run", "-H", "dev1"] + words.map { Word($0) } + ["--", "true"])
      #expect(outcome.code == 64 && outcome.errors.contains("for \(option)"), "\(outcome.errors)")
    }
    let outcome = await world.run("run", "-H", "dev1", "--on-max-output", "discard", "--", "true")
    #expect(outcome.code == 64 && outcome.errors.contains("give --max-output too"))
    #expect(try await world.store().jobs().isEmpty)
  }
}
