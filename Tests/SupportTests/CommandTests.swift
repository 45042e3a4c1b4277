import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct CommandTests {
  @Test func bytesComeBackAsTheyWent() async throws {
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let result = try await Command("cat", input: .bytes(bytes)).run()
    #expect(result.end == .code(0))
    #expect(result.output == bytes)
  }

  @Test func codeSignalAndErrorOutputAreToldApart() async throws {
    let failing = try await Command("sh", ["-c", "echo no >&2; exit 7"]).run()
    #expect(failing.end == .code(7))
    #expect(failing.errorText == "no\n")
    #expect(failing.output.isEmpty)
    let killed = try await Command("sh", ["-c", "kill -9 $$"]).run()
    #expect(killed.end == .signal(SIGKILL))
  }

  @Test func aProgramThatIsNotThereIsAnError() {
    #expect(throws: SystemError.self) { try Command("/no/such/program").start() }
  }

  @Test func theHomeIsNeverTheUsersOwn() async throws {
    let text = try await Command("sh", ["-c", "echo $HOME $POCKET_TESTING; pwd"], folder: "/")
      .succeed()
    #expect(text == "/nonexistent 1\n/")
  }

  @Test func theDeadlineKillsTheWholeGroup() async throws {
    let command = Command("sh", ["-c", "sleep 100 & echo $!; wait"])
    let error = await #expect(throws: CommandTookTooLong.self) {
      try await command.run(deadline: .milliseconds(300))
    }
    let sleeper = try #require(
      Int32(String(decoding: error?.output ?? [], as: UTF8.self).dropLast()))
    try await waitUntil("the end of the sleeper") {
      ProcessEntry(pid: sleeper)?.isAlive != true
    }
  }

  @Test func outputCanBeReadAndInputWrittenWhileItRuns() async throws {
    let cat = try Command("cat", input: .open).start()
    cat.write(Array("가나다\n".utf8))
    try await cat.waitForOutput("the echo") { $0 == Array("가나다\n".utf8) }
    #expect(cat.isRunning)
    cat.closeInput()
    #expect(try await cat.exit().end == .code(0))
  }

  @Test func whatTheProgramLeftBehindDoesNotKeepItFromEnding() async throws {
    let result = try await Command("sh", ["-c", "sleep 100 & echo $!"]).run(deadline: .seconds(10))
    let sleeper = try #require(Int32(result.outputText.dropLast()))
    #expect(kill(sleeper, SIGKILL) == 0)
  }

  @Test func noDescriptorOfAnotherCommandIsInherited() async throws {
    let other = try Command("cat", input: .open).start()
    let open = try await Command("ls", ["/proc/self/fd"]).succeed().split(separator: "\n")
    // 0, 1, 2 and the one by which ls reads the folder.
    #expect(open.count == 4)
    other.closeInput()
    _ = try await other.exit()
  }

  @Test func peakMemoryIsTheProgramsOwn() async throws {
    let ballast = [UInt8](repeating: 1, count: 300 << 20)
    var command = Command("sh", ["-c", "head -c 50000000 /dev/zero | (v=$(tr '\\0' x); sleep 1)"])
    command.measuresMemory = true
    let small = try await command.run()
    #expect(small.peakResidentBytes > 100_000)
    #expect(small.peakResidentBytes < 100 << 20)
    #expect(ballast.last == 1)
  }
}
