import JobModel
import JobStore
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Somebody, or the job itself, does to the job file what nobody should while `pocket` follows it:
/// a gap where one is due, the lines after it right, and never a wrong byte.
@Suite struct ChangedFileTests {
  /// Prints lines, waits for `~/go`, prints others, and ends with 5.
  private static let twoParts = """
    for i in 1 2 3 4 5 6 7 8; do echo "before $i 줄"; echo "warning $i" >&2; done
    until [ -e ~/go ]; do sleep 0.05; done
    for i in 1 2 3; do echo "after $i 줄"; echo "late warning $i" >&2; done
    exit 5
    """
  private static let before = (1...8).map { "before \($0) 줄\n" }.joined()
  private static let after = (1...3).map { "after \($0) 줄\n" }.joined()
  private static let warnings = (1...8).map { "warning \($0)\n" }.joined()

  @Test func aJobFileThatIsEmptiedIsAGap() async throws {
    try await ProgramWorld.with { world in
      let run = try await follow(Self.twoParts, until: Self.before, in: world)
      try writeFile(world.hostFile(run.id, .out), [])
      try release(world)
      let result = try await run.client.exit()
      #expect(result.end == .code(5))
      #expect(result.outputText == Self.before + Self.after)
      #expect(
        result.errorText.contains("out was cut short on dev1 at byte \(Self.before.utf8.count)"))
      try await expectEqualWithGaps(run.id, in: world)
    }
  }

  /// The shell opens `/dev/stdout` anew and truncates it: the job rewrites its own file.
  @Test func aJobThatWritesToDevStdoutRewritesItsFile() async throws {
    try await ProgramWorld.with { world in
      let script = Self.twoParts.dropLast("exit 5".count) + "echo x > /dev/stdout; echo y; exit 5"
      let run = try await follow(String(script), until: Self.before, in: world)
      try release(world)
      let result = try await run.client.exit()
      #expect(result.end == .code(5))
      // What was printed between the last look and the rewriting is gone with the old file.
      let printed = result.outputText
      #expect(printed.hasSuffix("x\ny\n"))
      #expect((Self.before + Self.after).hasPrefix(printed.dropLast("x\ny\n".count)))
      #expect(printed.hasPrefix(Self.before))
      #expect(result.errorText.contains("out was "))
      try await expectEqualWithGaps(run.id, in: world)
    }
  }

  @Test func aJobThatWritesToDevStderrRewritesThatFile() async throws {
    try await ProgramWorld.with { world in
      let script = """
        for i in 1 2 3 4 5 6 7 8; do echo "warning $i" >&2; done
        until [ -e ~/go ]; do sleep 0.05; done
        echo x > /dev/stderr; echo y >&2; echo done; exit 5
        """
      let run = try await follow(script, until: Self.warnings, of: .err, in: world)
      try release(world)
      let result = try await run.client.exit()
      #expect(result.end == .code(5) && result.outputText == "done\n")
      let lines = result.errorText.split(separator: "\n").filter { !$0.hasPrefix("pocket: ") }
      #expect(lines.joined(separator: "\n") + "\n" == Self.warnings + "x\ny\n")
      #expect(result.errorText.contains("err was "))
      try await expectEqualWithGaps(run.id, in: world)
    }
  }

  @Test func aJobFileThatIsReplacedIsAGap() async throws {
    try await ProgramWorld.with { world in
      let run = try await follow(Self.twoParts, until: Self.before, in: world)
      let file = world.hostFile(run.id, .out)
      // Longer than what was read, so that neither size nor position tells.
      let other = String(repeating: "of another file\n", count: 100)
      try writeFile(file + ".new", Array(other.utf8))
      try #require(rename(file + ".new", file) == 0)
      try await run.client.waitForOutput("the other file") {
        $0.count >= Self.before.utf8.count + other.utf8.count
      }
      try release(world)
      let result = try await run.client.exit()
      #expect(result.end == .code(5))
      #expect(result.outputText == Self.before + other)
      #expect(result.errorText.contains("out was replaced on dev1"))
      try await expectEqualWithGaps(run.id, in: world)
    }
  }

  /// Nobody follows while the file is emptied and grows past where the reader stood: only the bytes
  /// before that position tell.
  @Test func aJobFileThatGrewAgainPastTheOffsetIsAGap() async throws {
    try await ProgramWorld.with { world in
      let script = """
        for i in 1 2 3 4 5 6 7 8; do echo "before $i 줄"; done
        until [ -e ~/go ]; do sleep 0.05; done
        i=0; while [ $i -lt 200 ]; do echo "again $i"; i=$((i+1)); done
        """
      let run = try await follow(script, until: Self.before, in: world)
      run.client.signal(SIGKILL)
      _ = try await run.client.exit()
      let file = world.hostFile(run.id, .out)
      try writeFile(file, [])
      try release(world)
      let again = (0..<200).map { "again \($0)\n" }.joined()
      try await waitUntil("the regrown file") { try fileSize(file) == again.utf8.count }
      let result = try await world.pocket("resume", "\(run.id)").run()
      #expect(result.end == .code(0))
      #expect(result.outputText == Self.before + again)
      #expect(result.errorText.contains("out was rewritten on dev1"))
      try await expectEqualWithGaps(run.id, in: world)
    }
  }

  @Test func aLineOf64MebibytesArrivesWhole() async throws {
    try await ProgramWorld.with { world in
      let size = 64 << 20
      let id = try await world.start(
        "echo first; head -c \(size) /dev/zero | tr '\\0' x; echo; echo last; exit 5")
      let result = try await world.pocket("resume", "\(id)").run(deadline: .seconds(240))
      #expect(result.end == .code(5), "\(result.errorText.suffix(300))")
      #expect(try world.isHostFile(result.output, of: id, .out))
      #expect(result.output.count == size + "first\n\nlast\n".utf8.count)
      #expect(try await world.pocket("verify", "\(id)").run().end == .code(0))
    }
  }

  /// What a file system may leave at the end of a file after a crash.
  @Test func aTailOfNULBytesIsBytesLikeOthers() async throws {
    try await ProgramWorld.with { world in
      let run = try await follow(Self.twoParts, until: Self.before, in: world)
      let file = world.hostFile(run.id, .out)
      try appendToFile(file, [UInt8](repeating: 0, count: 5000))
      try release(world)
      let result = try await run.client.exit()
      #expect(result.end == .code(5))
      #expect(
        result.output == Array(Self.before.utf8) + [UInt8](repeating: 0, count: 5000)
          + Array(Self.after.utf8))
      #expect(try await world.pocket("verify", "\(run.id)").run().end == .code(0))
    }
  }

  /// Runs a job in the foreground until `text` was printed of a stream.
  private func follow(
    _ script: String, until text: String, of stream: JobStream = .out, in world: ProgramWorld
  ) async throws -> (client: RunningCommand, id: JobID) {
    let client = try world.pocket("run", "--", "sh", "-c", script).start()
    try await waitUntil("the first lines", deadline: .seconds(60)) {
      (stream == .out ? client.outputText : client.errorText) == text
    }
    return (client, try #require(try await world.openStore().jobs().first?.id))
  }

  private func release(_ world: ProgramWorld) throws {
    try writeFile(world.server.remoteHome + "/go", [])
  }

  /// Exit 3 of `verify`: what the store has of the newest file is what the host has.
  private func expectEqualWithGaps(
    _ id: JobID, in world: ProgramWorld, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let verified = try await world.pocket("verify", "\(id)").run()
    #expect(verified.end == .code(3), "\(verified.outputText)", sourceLocation: sourceLocation)
  }
}
