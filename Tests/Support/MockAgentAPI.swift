/// The agents' model APIs, played on loopback by `mock_api.py`, whose first lines tell what a prompt
/// can ask for. It ends with this object, and with this process however that dies.
package final class MockAgentAPI: Sendable {
  /// Where it listens: `http://127.0.0.1:PORT`.
  package let url: String
  private let program: RunningCommand

  /// What it answers to `[[ko]]`.
  package static let korean = """
    안녕하세요! 작업을 마쳤습니다 🎉👩‍💻🇰🇷 — 파일 3개를 고쳤어요. \
    한글·이모지·“따옴표”·\\역슬래시\\·\u{2028}줄구분·𝕌𝕟𝕚.
    """

  /// Starts it, and returns when it listens.
  package static func start() async throws -> MockAgentAPI {
    let program = try Command(
      "python3", ["\(sourceFolder(#filePath))/mock_api.py", "--attached"], input: .open
    ).start()
    try await program.waitForOutput("the mock's URL") { $0.contains(0x0A) }
    return MockAgentAPI(url: String(program.outputText.dropLast()), program)
  }

  private init(url: String, _ program: RunningCommand) {
    self.url = url
    self.program = program
  }

  /// Variables that make both agents talk to nobody but this.
  package var environment: [String: String] {
    [
      "ANTHROPIC_BASE_URL": url,
      "ANTHROPIC_API_KEY": "sk-ant-dummy",
      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
      "DISABLE_AUTOUPDATER": "1",
      // Without it Claude Code refuses to skip its permission questions when root runs it.
      "IS_SANDBOX": "1",
      "MOCK_KEY": "dummy",
    ]
  }

  /// Arguments of `codex exec` without which it talks to its maker, whatever the environment says.
  package var codexArguments: [String] {
    [
      "model_provider=mock", "model_providers.mock.name=\"mock\"",
      "model_providers.mock.base_url=\"\(url)/v1\"",
      "model_providers.mock.wire_api=\"responses\"", "model_providers.mock.env_key=\"MOCK_KEY\"",
      "analytics.enabled=false", "features.plugins=false",
    ].flatMap { ["-c", $0] }
  }
}
