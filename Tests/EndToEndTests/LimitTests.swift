import JobModel
import TestSupport
import Testing

/// Limits as a script meets them.
@Suite struct LimitTests {
  @Test func aTimeoutIsExit124() async throws {
    try await ProgramWorld.with { world in
      let result = try await world.pocket("run", "--timeout", "2s", "--", "sleep", "60").run()
      #expect(result.end == .code(124), "\(result.errorText)")
      #expect(result.errorText.contains("timed out after 2 s"), "\(result.errorText)")
      let verified = try await world.pocket("verify", "@").run()
      #expect(verified.end == .code(0), "\(verified.outputText)")
    }
  }

  @Test func tooMuchOutputEndsTheJobWithAMarkerAndExit153() async throws {
    try await ProgramWorld.with { world in
      let result = try await world.pocket("run", "-d", "--max-output", "1M", "--", "yes").run()
      let id = try #require(JobID(result.outputText.split(separator: "\n").joined()))
      let resumed = try await world.pocket("resume", "\(id)").run(deadline: .seconds(120))
      #expect(resumed.end == .code(153), "\(resumed.errorText)")
      #expect(resumed.outputText.hasSuffix(#""limit":1000000,"then":"stop"}"# + "\n"))
      // What was written behind the marker may not be cut off yet.
      let file = try readFile(world.hostFile(id, .out)).prefix(resumed.output.count)
      #expect(resumed.output.elementsEqual(file))
      #expect(try await world.pocket("verify", "\(id)").run().end == .code(0))
    }
  }

  @Test func outputBeyondTheLimitIsDiscardedAndTheJobHasItsOwnEnd() async throws {
    try await ProgramWorld.with { world in
      let result = try await world.pocket(
        "run", "--max-output", "100k", "--on-max-output", "discard", "--", "sh", "-c",
        "until [ -e ~/.pocket/jobs/$POCKET_JOB/capped.out ]; do printf '%0999d\\n' 1; done; exit 5"
      ).run(deadline: .seconds(120))
      #expect(result.end == .code(5), "\(result.errorText)")
      #expect(result.errorText.contains("ended at the limit of 100 kB"), "\(result.errorText)")
      #expect(try await world.pocket("verify", "@").run().end == .code(0))
    }
  }
}
