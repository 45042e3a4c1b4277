import TestSupport
import Testing

/// The real `claude` and `codex`, run by the real `pocket` on a real sshd. Only their model API is
/// played, by `mock_api.py`, to which the markers in the prompts speak.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: realAgentsFolder() != nil, "claude and codex are not here: `make agents`"))
struct RealAgentsTests {
  @Test(arguments: RealAgent.allCases)
  func koreanAnswerArrivesWhole(agent: RealAgent) async throws {
    try await AgentWorld.with { world in
      let end = try await world.pocket(["run"] + world.arguments(agent) + ["[[ko]]"]).run()
      #expect(end.code == 0, "\(end.errorText)")
      #expect(end.outputText == MockAgentAPI.korean + "\n")
      let shown = try await world.pocket(["show", "@", "--json"]).succeed()
      #expect(shown.contains(#""outcome":"success""#))
      let session = shown.firstMatch(of: /"agentSession":"([0-9a-f-]{36})"/)?.1
      let file = try world.jobFile("out.jsonl")
      #expect(try file.contains(#require(session)), "the session is the one that the agent used")
      try await world.pocket(["verify", "@"]).succeed()
    }
  }

  @Test(arguments: RealAgent.allCases)
  func slowAnswerSurvivesTwoCutsOfTheLink(agent: RealAgent) async throws {
    try await AgentWorld.with { world in
      let proxy = try FaultProxy(server: world.server.port)
      try world.server.addHost("far", port: proxy.port)
      let prompt = "[[slow 5]] [[+bash echo middle]] [[slow 5]]"
      let running = try world.pocket(
        ["run", "-H", "far"] + world.arguments(agent) + [prompt]
      ).start()

      try await waitUntil("the first events", deadline: .seconds(60)) {
        try world.jobFile("out.jsonl").contains(agent.firstEvent)
      }
      proxy.cutNow()
      try await waitUntil("the first cut") { proxy.cutCount >= 1 }
      try await waitUntil("the end of the tool call", deadline: .seconds(60)) {
        try world.jobFile("out.jsonl").contains(agent.toolEnd)
      }
      try await waitUntil("a second connection", deadline: .seconds(60)) {
        proxy.connectionCount >= 2
      }
      proxy.cutNow(by: .finish)
      try await waitUntil("the second cut") { proxy.cutCount >= 2 }
      #expect(running.isRunning)

      let end = try await running.exit(deadline: .seconds(120))
      #expect(end.code == 0, "\(end.errorText)")
      let slow = (1...10).map { "\($0)/10 " }.joined() + "\n"
      let tool = agent == .claude ? "$ echo middle\n" : "$ /bin/bash -lc 'echo middle'\n"
      #expect(end.outputText == slow + tool + slow)
      #expect(proxy.connectionCount >= 3)
      try await world.pocket(["verify", "@"]).succeed()
    }
  }

  @Test(arguments: RealAgent.allCases)
  func cancelInTheMiddleOfAToolCallLeavesNothingAlive(agent: RealAgent) async throws {
    try await AgentWorld.with { world in
      let prompt = #"[[bash bash -c "sleep 321 & setsid sleep 322; true"]] [[text never]]"#
      let id = try await world.pocket(
        ["run", "--detach"] + world.arguments(agent) + [prompt]
      ).succeed()
      let cookie = "POCKET_JOB=\(id)"
      try await waitUntil("the tool and its child", deadline: .seconds(60)) {
        // Codex starts its tool before it has written so.
        try ProcessEntry.carrying(cookie).filter { $0.arguments.first == "sleep" }.count == 2
          && world.jobFile("out.jsonl").contains("sleep 321")
      }

      let cancel = try await world.pocket(["cancel", id]).run()
      #expect(cancel.code == 0, "\(cancel.errorText)")
      #expect(try ProcessEntry.carrying(cookie) == [])

      let resume = try await world.pocket(["resume", id]).run()
      #expect(resume.code == 143, "\(resume.errorText)")
      #expect(resume.outputText.contains("sleep 321"))
      #expect(!resume.outputText.contains("never"))
      if agent == .claude {
        // INT came first, so it could say how it ended.
        #expect(resume.outputText.contains("error: aborted_tools"))
      }
      try await world.pocket(["verify", id]).succeed()
    }
  }
}

enum RealAgent: String, CaseIterable, Sendable {
  case claude, codex

  /// Is in the job file before the model has said anything.
  var firstEvent: String { self == .claude ? #""subtype":"init""# : "thread.started" }
  /// Is in the job file when the tool has ended.
  var toolEnd: String { self == .claude ? "tool_result" : #""exit_code":0"# }
}

/// A host on which both agents are found and speak to the mock, and a `pocket` of its own.
struct AgentWorld {
  let server: LoopbackServer
  let mock: MockAgentAPI
  let folder: TemporaryFolder

  static func with(_ body: (AgentWorld) async throws -> Void) async throws {
    let mock = try await MockAgentAPI.start()
    var options = LoopbackServer.Options()
    options.remoteEnvironment = mock.environment
    try await withLoopbackServer(options) { server in
      let programs = try #require(realAgentsFolder())
      try writeFile("\(server.remoteHome)/.profile", Array("PATH='\(programs)':$PATH\n".utf8))
      try await body(
        AgentWorld(server: server, mock: mock, folder: try TemporaryFolder("agents")))
    }
  }

  /// What makes `pocket run` start this agent, with its tools allowed and the mock to talk to.
  func arguments(_ agent: RealAgent) -> [String] {
    let own =
      switch agent {
      case .claude: ["--permission-mode", "bypassPermissions", "--include-partial-messages"]
      case .codex: mock.codexArguments + ["-s", "danger-full-access"]
      }
    return ["--agent", agent.rawValue] + own.map { "--agent-arg=\($0)" }
  }

  /// The program that was built with these tests.
  func pocket(_ arguments: [String]) -> Command {
    Command(
      builtProgram("pocket"), arguments,
      environment: [
        "HOME": folder.path, "POCKET_HOME": folder["store"],
        "POCKET_SSH_CONFIG": server.sshConfiguration, "POCKET_HOST": server.alias,
      ])
  }

  /// A file in the directory of the only job; empty while there is none.
  func jobFile(_ name: String) throws -> String {
    let jobs = "\(server.remoteHome)/.pocket/jobs"
    let id = namesInFolder(jobs).first { !$0.hasPrefix(".") }
    guard let id, fileExists("\(jobs)/\(id)/\(name)") else { return "" }
    return try readText("\(jobs)/\(id)/\(name)")
  }
}
