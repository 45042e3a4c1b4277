import Agents
import TestSupport
import Testing

@Suite struct RecordedTests {
  @Test(arguments: ["claude-korean", "codex-korean"])
  func koreanAnswerIsShownOnceAndWhole(name: String) throws {
    #expect(try Recorded.text(name) == MockAgentAPI.korean + "\n")
    #expect(try Recorded.outcome(name) == .success)
  }

  @Test func claudeToolsAreShownByWhatTheyRun() throws {
    #expect(
      try Recorded.text("claude-tools") == "$ echo hi; seq 3\n$ false\nWrite a.txt\ndone\n")
    let ended = try Recorded.events("claude-tools").compactMap { event -> Bool? in
      if case .toolEnded(_, let isError) = event { isError } else { nil }
    }
    #expect(ended == [true, false, false], "the two ran side by side, and `false` ended first")
  }

  @Test func codexToolsAreShownByWhatTheyRun() throws {
    #expect(
      try Recorded.text("codex-tools") == """
        $ /bin/bash -lc 'echo hi'
        $ /bin/bash -lc false
        add /home/user/project/b.txt
        done

        """)
    let events = try Recorded.events("codex-tools")
    #expect(events.contains(.toolEnded(id: "item_0", isError: false)))
    #expect(events.contains(.toolEnded(id: "item_1", isError: true)))
  }

  @Test func claudesRefusedRequestIsAFailureAlthoughItSaysSuccess() throws {
    #expect(try Recorded.outcome("claude-refused") == .failure("api_error"))
    #expect(
      try Recorded.text("claude-refused") == """
        API Error: 400 mock error 400
        error: api_error

        """)
  }

  @Test func codexsRefusedRequestIsAFailure() throws {
    #expect(try Recorded.outcome("codex-refused") == .failure("turn.failed"))
    #expect(try Recorded.text("codex-refused").contains("mock error 400"))
  }

  @Test func retryIsShownAndIsNotTheEnd() throws {
    #expect(
      try Recorded.text("claude-retried") == """
        error: the model API failed (HTTP 529): retry 1 of 10
        recovered

        """)
    #expect(try Recorded.outcome("claude-retried") == .success)
  }

  @Test func reconnectsOfCodexAreErrorsThatNeedNotBeTheEnd() throws {
    let events = try Recorded.events("codex-dropped")
    let errors = events.filter { if case .error = $0 { true } else { false } }
    #expect(errors.count == 6)
    #expect(try Recorded.outcome("codex-dropped") == .failure("turn.failed"))
  }

  @Test func limitIsAFailureWithItsName() throws {
    #expect(try Recorded.outcome("claude-limit") == .failure("error_max_turns"))
  }

  @Test func subagentsToolIsShownAndItsTextIsNot() throws {
    let text = try Recorded.text("claude-subagent")
    #expect(text.contains("Agent mock subagent\n"))
    #expect(text.contains("$ echo in\n"))
    #expect(!text.contains("sub\n"))
    #expect(text.contains("out\n"))
  }

  @Test func lastOfSeveralResultsCounts() throws {
    let results = try Recorded.events("claude-subagent").compactMap { event -> String?? in
      if case .result(.success, let text) = event { .some(text) } else { nil }
    }
    #expect(results.count == 2)
    var reader = AgentReader(agent: try Recorded.agent(of: "claude"))
    _ = reader.read(try Recorded.bytes("claude-subagent") + Recorded.bytes("claude-limit"))
    #expect(reader.outcome == .failure("error_max_turns"))
  }

  @Test func partialMessagesAreNotShownTwice() throws {
    #expect(try Recorded.text("claude-partial") == "after\n")
  }

  @Test func unknownSessionIsAFailureWithItsWords() throws {
    let events = try Recorded.events("claude-unknown")
    #expect(events.count == 1)
    #expect(try Recorded.outcome("claude-unknown") == .failure("error_during_execution"))
    #expect(try Recorded.text("claude-unknown").contains("No conversation found"))
  }

  @Test func interruptedClaudeHasAnOutcomeAndCodexHasNone() throws {
    #expect(try Recorded.outcome("claude-interrupted") == .failure("aborted_tools"))
    #expect(try Recorded.outcome("codex-interrupted") == nil)
  }

  @Test func sessionIsReadFromTheEvents() throws {
    for name in ["claude-korean", "codex-korean"] {
      var reader = AgentReader(agent: try Recorded.agent(of: name))
      _ = reader.read(try Recorded.bytes(name))
      #expect(reader.session?.utf8.count == 36, "\(name)")
    }
  }

  @Test func everyCutOfTheBytesGivesTheSameEvents() throws {
    for name in ["claude-tools", "codex-tools", "codex-korean"] {
      let bytes = try Recorded.bytes(name)
      let whole = try Recorded.events(name)
      for step in [1, 2, 3, 7, 100, 4096] {
        var reader = AgentReader(agent: try Recorded.agent(of: name))
        var events: [AgentEvent] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
          events += reader.read(bytes[start..<min(start + step, bytes.count)])
        }
        #expect(events + reader.finish() == whole, "\(name) in pieces of \(step)")
      }
    }
  }
}
