import Testing
import TestSupport

@Suite struct MockAgentAPITests {
  /// Posts a prompt as an agent would, but for the stream.
  private func ask(_ mock: MockAgentAPI, _ prompt: String) async throws -> String {
    let script = """
      import json, sys, urllib.request
      body = {"messages": [{"role": "user", "content": sys.argv[2]}]}
      answer = urllib.request.urlopen(sys.argv[1] + "/v1/messages", json.dumps(body).encode())
      sys.stdout.buffer.write(json.load(answer)["content"][0]["text"].encode())
      """
    return try await Command("python3", ["-c", script, mock.url, prompt]).succeed()
  }

  @Test func markersInThePromptChooseTheAnswer() async throws {
    let mock = try await MockAgentAPI.start()
    #expect(try await ask(mock, "hello") == "Mock reply to: hello")
    #expect(try await ask(mock, "say [[text 안녕 🎉]] [[text never]]") == "안녕 🎉")
  }

  @Test func itEndsWithItsOwner() async throws {
    let url = try await MockAgentAPI.start().url
    let port = try #require(UInt16(url.split(separator: ":").last ?? ""))
    try await waitUntil("the end of the mock") { (try? connectToLoopback(port: port)) == nil }
  }
}
