import JobModel
import TestSupport
import Testing

/// A second device: a store that did not see the job start.
@Suite struct SecondDeviceTests {
  @Test func aJobIsListedTakenOverFollowedAndPruned() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("echo one; echo two >&2; exit 3")
      #expect(try await world.pocket("resume", "\(id)").run().end == .code(3))
      func second(_ words: String...) async throws -> CommandResult {
        var command = world.pocket()
        command.arguments = words
        command.environment["POCKET_HOME"] = world.folder["second"]
        return try await command.run()
      }
      let listed = try await second("adopt")
      #expect(listed.end == .code(0) && listed.outputText.contains("\(id)  finished, exit 3"))
      #expect(listed.errorText.contains("pocket adopt -H dev1 --all"), "\(listed.errorText)")
      #expect(try await second("ls").output.isEmpty)
      let json = try await second("adopt", "--json")
      #expect(
        json.outputText.contains(#""id":"\#(id)""#)
          && json.outputText.contains(#""passedOver":null"#))

      #expect(try await second("adopt", "zzz").end == .code(64))
      for _ in 1...2 { #expect(try await second("adopt", "\(id)").end == .code(0)) }
      #expect(try await second("adopt", "--all").end == .code(0))
      let nothing = try await second("adopt")
      #expect(nothing.output.isEmpty && nothing.errorText.contains("1 are"), "\(nothing.errorText)")
      // Not all of it is here.
      #expect(try await second("rm", "\(id)").end == .code(1))
      let resumed = try await second("resume", "\(id)")
      #expect(
        resumed.end == .code(3) && resumed.outputText == "one\n" && resumed.errorText == "two\n")
      #expect(try await second("verify", "\(id)").end == .code(0))
      #expect(try await second("prune", "--older", "1h").end == .code(0))
      #expect(fileExists(world.hostFile(id, .out)))
      try await Task.sleep(for: .seconds(2))
      let pruned = try await second("prune", "--older", "1s")
      #expect(pruned.end == .code(0) && pruned.errorText.contains("here and on dev1"))
      #expect(!fileExists(world.hostFile(id, .out)))
      // The first device has kept what it has.
      #expect(try await world.pocket("logs", "\(id)").run().outputText == "one\n")
      #expect(try await world.pocket("prune", "--older", "1s").run().end == .code(0))
    }
  }
}
