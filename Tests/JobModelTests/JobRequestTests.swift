import JobModel
import Testing

@Suite struct JobRequestTests {
  /// Bytes that nobody may parse: quotes, newlines, `=`, no UTF-8.
  private let nasty: [UInt8] = Array("-a'\"$(x)`\n=\r end=1\n\u{2028}".utf8) + [0xFF, 0x01]

  private var request: JobRequest {
    JobRequest(
      agent: "claude", name: "night.1", workingDirectory: nasty,
      arguments: [Array("prog".utf8), nasty, []], environmentNames: ["API_KEY", "_x9"],
      readsPrompt: true, lineBuffered: true, prompt: Array("프롬프트\n둘째 줄\n".utf8))
  }

  @Test func theRequestFileBringsEverythingBackButThePrompt() throws {
    let bytes = request.requestFile(created: 1_764_486_000)
    let file = try #require(RequestFile(bytes))
    var expected = request
    expected.prompt = []
    #expect(file.request == expected)
    #expect(file.digest == request.digest)
    #expect(file.created == 1_764_486_000)
    #expect(JobRequest(requestFile: bytes) == expected)
  }

  @Test func theRequestFileIsAsPublished() {
    let plain = JobRequest(arguments: [Array("echo".utf8), Array("hi".utf8)])
    let text = String(decoding: plain.requestFile(created: 7), as: UTF8.self)
    #expect(
      text == """
        digest=\(plain.digest)
        v=1
        created=7
        agent=
        name=
        stdin=null
        buffering=default
        cwd=
        arg=ZWNobw==
        arg=aGk=
        end=1

        """)
  }

  @Test func aRequestFileThatIsCutOffIsRefused() {
    let bytes = request.requestFile(created: 1)
    for count in 0..<bytes.count { #expect(RequestFile(Array(bytes[..<count])) == nil) }
    #expect(RequestFile(bytes) != nil)
    #expect(RequestFile(bytes + Array("arg=eA==\n".utf8)) == nil)
  }

  @Test func theDigestTellsRequestsApart() {
    let base = request
    var others: [JobRequest] = []
    func change(_ edit: (inout JobRequest) -> Void) {
      var other = base
      edit(&other)
      others.append(other)
    }
    change { $0.agent = nil }
    change { $0.agent = "codex" }
    change { $0.workingDirectory = nil }
    change { $0.workingDirectory = [] }
    change { $0.arguments.append([]) }
    change { $0.arguments = [Array("pro".utf8), [0x67] + nasty, []] }
    change { $0.environmentNames = ["API_KEY"] }
    change { $0.environmentNames = ["API_KEY_x9"] }
    change { $0.readsPrompt = false }
    change { $0.lineBuffered = false }
    change { $0.prompt.append(0x0A) }
    change { $0.limits.timeout = 7200 }
    change { $0.limits.maxOutput = 7200 }
    change { $0.limits = JobLimits(maxOutput: 7200, onMaxOutput: .discard) }
    #expect(Set(others.map(\.digest) + [base.digest]).count == others.count + 1)
    var renamed = base
    renamed.name = "other"
    #expect(renamed.digest == base.digest)
  }

  @Test func theDigestStaysTheSameForEver() {
    // What hosts and stores have written down must go on being found.
    #expect(
      JobRequest(arguments: [Array("true".utf8)]).digest
        == SHA256.hexDigest(of: Array("1:1--1:14:true1:04:null7:default0:".utf8)))
  }

  @Test func thePayloadIsAnnouncedAsItIs() throws {
    let payload = try request.payload(
      created: 1, secrets: [("API_KEY", Array("s=1\n2".utf8)), ("_x9", [])], watchScript: "watch")
    #expect(payload.secretBytes == Array("API_KEY=s=1\n2\0_x9=\0".utf8))
    #expect(payload.promptBytes == request.prompt)
    #expect(payload.bytes == payload.requestBytes + payload.promptBytes + payload.secretBytes)
    let sum = PosixChecksum.of(payload.bytes)
    #expect(
      payload.header(nonce: "abc")
        == Array(
          "abc payload \(payload.requestBytes.count) \(request.prompt.count) 19 0 \(sum)\n".utf8))
  }

  @Test func limitsAreInTheRequestFileOnlyWhereThereAreAny() throws {
    var limited = request
    limited.limits = JobLimits(timeout: 7200, maxOutput: 500_000_000, onMaxOutput: .discard)
    let bytes = limited.requestFile(created: 1)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("\ntimeout=7200\nmax_output=500000000\non_max_output=discard\nend=1\n"))
    #expect(RequestFile(bytes)?.request.limits == limited.limits)
    #expect(RequestFile(bytes)?.digest == limited.digest)
    for damaged in ["timeout=x", "timeout=0", "max_output=-1", "on_max_output=maybe"] {
      let key = damaged.prefix { $0 != "=" } + "="
      let lines = text.split(separator: "\n").map { $0.hasPrefix(key) ? damaged : String($0) }
      #expect(RequestFile(Array((lines.joined(separator: "\n") + "\n").utf8)) == nil, "\(damaged)")
    }
    let secrets = [("API_KEY", [UInt8]()), ("_x9", [UInt8]())]
    let watched = try limited.payload(created: 1, secrets: secrets, watchScript: "watch")
    #expect(
      watched.watchBytes == Array("watch".utf8)
        && watched.bytes.suffix(5) == watched.watchBytes[...])
    #expect(
      try request.payload(created: 1, secrets: secrets, watchScript: "watch").watchBytes.isEmpty)
  }

  @Test func noSecretIsInTheRequestFile() throws {
    let payload = try request.payload(
      created: 1, secrets: [("API_KEY", Array("hunter2".utf8)), ("_x9", Array("hunter3".utf8))],
      watchScript: "")
    #expect(!String(decoding: payload.requestBytes, as: UTF8.self).contains("hunter"))
  }

  @Test func whatCannotBeRunIsRefused() {
    func problem(_ edit: (inout JobRequest) -> Void) -> RequestError? {
      var other = request
      edit(&other)
      do throws(RequestError) { try other.validate() } catch { return error }
      return nil
    }
    #expect(problem { _ in } == nil)
    #expect(problem { $0.arguments = [] } == .noCommand)
    #expect(problem { $0.arguments = [[]] } == .noCommand)
    #expect(problem { $0.arguments[1] = [0x61, 0] } == .containsNUL("a\0"))
    #expect(problem { $0.workingDirectory = [0] } == .containsNUL("\0"))
    #expect(problem { $0.environmentNames = ["A=B"] } == .badEnvironmentName("A=B"))
    #expect(problem { $0.environmentNames = ["9"] } == .badEnvironmentName("9"))
    #expect(problem { $0.name = "two words" } == .badName("two words"))
    #expect(problem { $0.name = "abcdefghijk1" } == .badName("abcdefghijk1"))
    #expect(problem { $0.name = String(repeating: "n", count: 65) } != nil)
    #expect(problem { $0.name = "한글" } == .badName("한글"))
  }

  @Test func onlyTheNamedSecretsAreSent() {
    #expect(throws: RequestError.self) {
      try request.payload(created: 1, secrets: [], watchScript: "")
    }
    #expect(throws: RequestError.containsNUL("API_KEY")) {
      try request.payload(
        created: 1, secrets: [("API_KEY", [0]), ("_x9", [])], watchScript: "watch")
    }
  }

  @Test func theTitleIsThePromptsFirstLine() {
    #expect(request.title == "프롬프트")
    var other = request
    other.prompt = Array("\n  \n  fix it\nmore".utf8)
    #expect(other.title == "fix it")
    other.prompt = []
    other.arguments = [Array("make".utf8), Array("all".utf8)]
    #expect(other.title == "make all")
    other.prompt = [UInt8](repeating: 0x78, count: 5000)
    #expect(other.title.count == 200)
  }
}
