import TestSupport
import Testing

@testable import RemoteScripts

@Suite struct RenderingTests {
  private static let nonce = "0123456789abcdef"
  private static let arguments = [
    ("id", "a1b2c3d4e5f6"), ("digest", String(repeating: "f", count: 64)),
  ]

  @Test func everyVerbLeavesRoomInOneCommand() {
    let sizes = RemoteVerb.allCases.map { verb in
      (verb, RemoteScript(verb, Self.arguments).command(nonce: Self.nonce).utf8.count)
    }
    let (biggest, size) = sizes.max { $0.1 < $1.1 } ?? (.launch, 0)
    print("the biggest rendered verb is \(biggest) with \(size) bytes")
    // The limit of libssh2 for one exec request is 34,000 bytes; the rest is for arguments. Launch has
    // none but those given here.
    for (verb, size) in sizes {
      #expect(size <= (verb == .launch ? 28_000 : 24_000), "\(verb) has \(size) bytes")
    }
  }

  /// The spikes prove the scripts through a rendering of their own; it must be the same one.
  @Test(arguments: RemoteVerb.allCases)
  func theSpikesRenderTheSameCommand(_ verb: RemoteVerb) async throws {
    let script = RemoteScript(verb, Self.arguments)
    let given = Self.arguments.map { "\($0.0)=\($0.1)" }
    let rendered = try await Command(
      "python3",
      [packageRoot + "/spikes/client.py", "render", verb.rawValue, "nonce=\(Self.nonce)"] + given
    ).succeed()
    #expect(rendered == script.command(nonce: Self.nonce))
  }

  @Test(arguments: [true, false])
  func theSpikesUseTheSameWatcher(_ interrupting: Bool) async throws {
    let python =
      "import render; print(render.watch(\"\(interrupting ? "yes" : "no")\").decode(), end='')"
    let rendered = try await Command(
      "python3", ["-c", python], environment: ["PYTHONPATH": packageRoot + "/spikes"]
    ).run()
    #expect(rendered.outputText == RemoteScript.watchScript(interrupting: interrupting))
  }

  @Test func everyScriptIsEmbeddedAndUsesWhatIsThere() {
    for name in ScriptSource.names {
      let source = ScriptSource.named(name)
      #expect(!source.isEmpty)
      #expect(RemoteScript.parts(of: source).allSatisfy(ScriptSource.names.contains))
    }
  }

  @Test func strippingTakesCommentsBlankLinesAndIndentationOnly() {
    let source = "#!/bin/sh\n# why\n\n  a=1 # kept\n\tb='x  y'\n"
    #expect(RemoteScript.stripped(source) == "a=1 # kept\nb='x  y'\n")
  }

  @Test func argumentsCannotLeaveTheirQuotes() async throws {
    let hostile = #"'; touch /tmp/never; echo '$(id)`id`"\"#
    let text = RemoteScript(.inspect, [("id", hostile)]).text(nonce: Self.nonce)
    let assignment = text.split(separator: "\n").prefix { !$0.hasPrefix("set ") }
      .joined(separator: "\n")
    let said = try await Command("sh", ["-c", assignment + "\nprintf %s \"$id\""]).succeed()
    #expect(said == hostile)
  }

  @Test func noncesAreSixteenDigitsAndFresh() {
    let nonces = (0..<1000).map { _ in RemoteScript.freshNonce() }
    #expect(Set(nonces).count == nonces.count)
    #expect(nonces.allSatisfy { $0.utf8.count == 16 && $0.allSatisfy(\.isHexDigit) })
  }
}

/// The checkout's folder.
private let packageRoot = #filePath.split(separator: "/", omittingEmptySubsequences: false)
  .dropLast(3).joined(separator: "/")
