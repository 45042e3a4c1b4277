import JobModel
import Testing

private let nonce = "0123456789abcdef"

/// What a parser makes of chunks: its replies, and the error that ended it.
struct Parsed: Equatable {
  var replies: [Reply] = []
  var error: ReplyError?
  var noise: [UInt8] = []

  init(_ chunks: [[UInt8]]) {
    var parser = ReplyParser(nonce: nonce)
    do throws(ReplyError) {
      for chunk in chunks { replies += try parser.consume(chunk) }
      try parser.finish()
    } catch {
      self.error = error
    }
    noise = parser.noise
  }

  init(_ text: String) { self.init([Array(text.utf8)]) }
}

/// Lines of the script's: each with the nonce ahead.
func reply(_ lines: String...) -> String {
  lines.map { "\(nonce) \($0)\n" }.joined()
}

func frame(
  _ stream: String = "out", generation: Int = 0, at offset: Int, _ bytes: [UInt8]
) -> [UInt8] {
  let sum = PosixChecksum.of(bytes.prefix(512))
  let last = PosixChecksum.of(bytes.suffix(512))
  return Array("\(nonce) data \(stream) \(generation) \(offset) \(bytes.count)\n".utf8) + bytes
    + Array("\(nonce) sent \(sum) \(last)\n".utf8)
}

@Suite struct ReplyParserTests {
  /// What the one line in a reply becomes.
  private func only(_ line: String) -> Reply? {
    let parsed = Parsed(reply("begin x 1", line, "end"))
    guard parsed.error == nil, parsed.replies.count == 3 else { return nil }
    return parsed.replies[1]
  }

  @Test func aReplyBeginsAndEnds() {
    let parsed = Parsed(reply("begin follow 1", "end"))
    #expect(parsed.replies == [.begin(verb: "follow", version: 1), .end])
    #expect(parsed.error == nil)
  }

  @Test func theWordsOfLaunchAreRead() {
    #expect(only("ready") == .ready)
    #expect(
      only("started new 200 201 feed")
        == .started(again: false, pid: 200, pgid: 201, attempt: "feed"))
    #expect(
      only("started again 7 7 feed") == .started(again: true, pid: 7, pgid: 7, attempt: "feed"))
    #expect(only("refused program bm8gc3VjaA==") == .refused(.program, words: "no such"))
    #expect(only("refused cwd ") == .refused(.cwd, words: ""))
    #expect(only("cancelled") == .cancelled)
    #expect(only("removed") == .removed)
    #expect(only("error nostart c2xvdw==") == .error(.nostart, words: "slow"))
    #expect(only("noexec 127 bm8=") == .noexec(127, words: "no"))
  }

  @Test func theWordsOfFollowAreRead() {
    #expect(
      only("stream out 2 17 -") == .stream(.out, generation: 2, offset: ByteOffset(17), inode: nil))
    #expect(
      only("stream err 0 0 123")
        == .stream(.err, generation: 0, offset: .zero, inode: "123"))
    #expect(
      only("gap out 1 rewritten 500 20")
        == .gap(
          .out, generation: 1, reason: .rewritten, offset: ByteOffset(500), size: ByteOffset(20)))
    #expect(
      only("beat 10 20 zombie alive")
        == .beat(
          outSize: ByteOffset(10), errSize: ByteOffset(20), leader: .zombie, supervisor: .alive))
    #expect(only("short err 5 3") == .short(.err, offset: ByteOffset(5), size: ByteOffset(3)))
    #expect(only("late 5 0") == .late(outBytes: 5, errBytes: 0))
    let record = ExitRecord(
      status: .signal(9), outSize: ByteOffset(12), errSize: ByteOffset(3), startedAt: 100,
      endedAt: 160, cancelRequested: true)
    #expect(only("exit \(record)    ") == .exit(record))
  }

  @Test func theWordsOfCancelInspectAndListAreRead() {
    #expect(only("step sweep 2") == .step("sweep 2"))
    #expect(only("beyond 17") == .beyond([17]))
    #expect(only("survivors") == .survivors([]))
    #expect(only("survivors 17 18") == .survivors([17, 18]))
    #expect(only("leftover 9") == .leftover([9]))
    #expect(
      only("process 9 8 c2xlZXAgNQ==")
        == .process(HostProcess(pid: 9, group: 8, command: "sleep 5")))
    #expect(only("size out 100 55") == .size(.out, bytes: ByteOffset(100), inode: "55"))
    let sum = String(repeating: "a", count: 64)
    #expect(only("digest err 9 \(sum)") == .digest(.err, bytes: ByteOffset(9), sha256: sum))
    #expect(only("job abcdefghijk1") == JobID("abcdefghijk1").map { .job($0) })
    #expect(only("request 70000 aGk=") == .request(size: 70000, Array("hi".utf8)))
    #expect(only("prompt 0 ") == .prompt(size: 0, []))
    #expect(only("other bm90ZXM=") == .other(directory: Array("notes".utf8)))
    let evidence = Evidence(
      directory: .present, start: .claimed, machine: .same, hostName: "dev1", boot: .unknown,
      leader: .zombie, supervisor: .alive, groupMembers: 3, cancelRequested: true)
    #expect(
      only(
        "evidence directory=present start=claimed machine=same host=dev1 boot=unknown leader=zombie"
          + " supervisor=alive group=3 cancel=yes new=thing") == .evidence(evidence))
    #expect(only("evidence \(EvidenceTests.full)") == .evidence(EvidenceTests.full))
  }

  @Test(arguments: [
    "started new 1 200 feed", "started new -5 200 feed", "started new 200 200", "started old 2 2 x",
    "beyond 1", "survivors 0", "survivors -1", "survivors 12 x", "refused boredom eA==",
    "refused cwd %%%",
    "error unheard eA==", "noexec 1 eA==", "stream both 0 0 -", "stream out -1 0 -",
    "stream out 0 -5 -", "beat 1 2 alive", "beat 1 -2 alive alive", "late 1", "digest out 5 abc",
    "job UPPERCASE123", "exit v=1 how=code status=0", "exit", "evidence directory=present",
    "begin", "end now", "gap out 0 shrunk 99999999999999999999 0", "sent 1 2", "nobash",
    "data out 0 0", "data out 0 -1 5", "data out 0 0 x", "ready  ",
    // Found by fuzzing: a word without its fields.
    "gap", "stream", "size", "digest", "short", "late", "beat", "started", "refused", "error",
    "noexec", "request", "job", "evidence", "step", "data", "sent",
  ])
  func aKnownWordWithWrongFieldsIsAnError(line: String) {
    let parsed = Parsed(reply("begin x 1", "ready", line, "end"))
    #expect(parsed.replies == [.begin(verb: "x", version: 1), .ready])
    #expect(parsed.error == .malformed("\(nonce) \(line)"))
  }

  @Test func unknownWordsArePassedOver() {
    let parsed = Parsed(reply("begin x 1", "weather sunny 20", "end"))
    #expect(parsed.replies == [.begin(verb: "x", version: 1), .end])
  }

  @Test func whatComesBeforeBeginIsNoise() {
    let noise =
      "Welcome!\r\n\nfedcba9876543210 begin follow 1\n\(nonce)begin x 1\n\(nonce) ready\nhalf "
      + "\(nonce) begin y 1\n"
    let parsed = Parsed(noise + reply("begin follow 1", "end") + "logout\n")
    #expect(parsed.replies == [.begin(verb: "follow", version: 1), .end])
    #expect(parsed.error == nil)
    #expect(parsed.noise == Array(noise.utf8))
  }

  @Test func onlyTheLastFourKibibytesOfNoiseAreKept() {
    let noise = Array(String(repeating: "x", count: 90_000).utf8) + Array("\nthe end".utf8)
    for chunks in [[noise], noise.map { [$0] }, randomChunks(noise, longest: 9000, seed: 1)] {
      let parsed = Parsed(chunks)
      #expect(parsed.noise == Array(noise.suffix(4096)))
      #expect(parsed.error == .incomplete(began: false, noise: Array(noise.suffix(4096))))
    }
  }

  @Test func aHostWithoutBashSaysSoEvenBehindHalfALine() {
    #expect(Parsed("\(nonce) nobash\n").replies == [.noBash])
    let parsed = Parsed("bye \(nonce) nobash\n")
    #expect(parsed.replies == [.noBash])
    #expect(parsed.error == nil)
  }

  @Test func aForeignLineAfterBeginIsAnError() {
    let parsed = Parsed(reply("begin x 1") + "hello\n" + reply("end"))
    #expect(parsed.error == .unexpected("hello"))
    #expect(parsed.replies == [.begin(verb: "x", version: 1)])
  }

  @Test func aReplyWithoutItsEndHasFailed() {
    let parsed = Parsed(reply("begin x 1", "cancelled") + "\(nonce) end")
    #expect(parsed.replies == [.begin(verb: "x", version: 1), .cancelled])
    #expect(parsed.error == .incomplete(began: true, noise: []))
  }

  @Test func anOverlongLineIsAnError() {
    let long = String(repeating: "a", count: 64 * 1024)
    for chunks in [[reply("begin x 1", "step \(long)")], [reply("begin x 1"), reply(long)]] {
      let parsed = Parsed(chunks.map { Array($0.utf8) })
      guard case .lineTooLong? = parsed.error else {
        Issue.record("\(String(describing: parsed.error))")
        continue
      }
    }
    let fits = String(repeating: "a", count: 64 * 1024 - nonce.utf8.count - 6)
    #expect(Parsed(reply("begin x 1", "step \(fits)", "end")).replies[1] == .step(fits))
  }

  @Test func aFaultIsThrownAgain() throws {
    var parser = ReplyParser(nonce: nonce)
    let good = try parser.consume(Array((reply("begin x 1") + "hello\n").utf8))
    #expect(good == [.begin(verb: "x", version: 1)])
    for _ in 0..<2 {
      #expect(throws: ReplyError.unexpected("hello")) {
        try parser.consume(Array(reply("end").utf8))
      }
    }
    #expect(throws: ReplyError.unexpected("hello")) { try parser.finish() }
  }
}
