import JobModel
import Testing

private let nonce = "0123456789abcdef"

@Suite struct FrameTests {
  private let begin = Array(reply("begin follow 1").utf8)
  private let end = Array(reply("end").utf8)

  @Test func aFrameIsDeliveredWithItsSentLine() throws {
    let bytes = Array("데이터 \u{1F30A}\n\0\n\(nonce) sent 1 2\n\(nonce) end\n".utf8)
    let sent = frame(generation: 3, at: 40, bytes)
    var parser = ReplyParser(nonce: nonce)
    _ = try parser.consume(begin)
    #expect(try parser.consume(Array(sent.dropLast())).isEmpty)
    let replies = try parser.consume([0x0A])
    let sum = PosixChecksum.of(bytes)
    #expect(
      replies == [
        .frame(
          Frame(
            stream: .out, generation: 3, offset: ByteOffset(40), bytes: bytes, first: sum, last: sum
          ))
      ])
  }

  @Test func everySplitGivesTheSameReplies() {
    let bytes = Array("가나다 🌊\n\(nonce) end\n\u{2028}\r\n".utf8)
    let text = "motd\n\(nonce)\nhalf"
    let all =
      Array("\(text)\n".utf8) + begin + frame(at: 0, bytes)
      + Array(reply("beat 35 0 alive alive").utf8) + frame("err", at: 7, [0x0A]) + end
    let whole = Parsed([all])
    #expect(whole.error == nil)
    #expect(whole.replies.count == 5)
    for chunks in simpleSplits(all) { #expect(Parsed(chunks) == whole) }
  }

  @Test func everySplitGivesTheSameError() {
    let all = begin + frame(at: 0, [1, 2, 3]) + Array("garbage\n".utf8) + end
    let whole = Parsed([all])
    #expect(whole.error == .unexpected("garbage"))
    #expect(whole.replies.count == 2)
    for chunks in simpleSplits(all) { #expect(Parsed(chunks) == whole) }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func randomFramesInRandomChunksGiveTheSameReplies(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var all = begin
    var offset = 0
    for _ in 0..<10 {
      let count = Int.random(in: 1...6000, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      all += frame(at: offset, bytes)
      offset += count
    }
    all += end
    let whole = Parsed([all])
    #expect(whole.error == nil)
    #expect(whole.replies.count == 12)
    let longest = [1, 100, 5000, 30_000][Int(seed % 4)]
    #expect(Parsed(randomChunks(all, longest: longest, seed: seed)) == whole)
  }

  @Test(arguments: [
    "sent", "sent 1", "sent 1 2 3", "sent -1 2", "sent x 2", "sent 4294967296 2",
  ])
  func aSentLineWithWrongFieldsIsAnError(line: String) {
    let data = Array("\(nonce) data out 0 0 3\nabc".utf8)
    let parsed = Parsed([begin + data + Array(reply(line).utf8)])
    #expect(parsed.replies.count == 1)
    #expect(parsed.error == .malformed("\(nonce) \(line)"))
  }

  @Test func aFrameThatIsNotFollowedBySentIsDropped() {
    for line in ["\(nonce) gap out 0 shrunk 0 0", "\(nonce) end", "c", "", "\(nonce)"] {
      let parsed = Parsed([begin + Array("\(nonce) data out 0 0 3\nabc\(line)\n".utf8)])
      #expect(parsed.replies.count == 1)
      #expect(parsed.error == .frameNotSent(line))
    }
  }

  @Test func aFrameThatIsCutOffIsDropped() {
    let all = begin + frame(at: 0, Array("abc".utf8))
    for count in begin.count..<all.count {
      let parsed = Parsed([Array(all[..<count])])
      #expect(parsed.replies.count == 1)
      #expect(parsed.error == .incomplete(began: true, noise: []))
    }
  }

  @Test func tooFewOrTooManyBytesAreNoticed() {
    for bytes in ["ab", "abcd"] {
      let parsed = Parsed([
        begin + Array("\(nonce) data out 0 0 3\n\(bytes)\(nonce) sent 1 2\n".utf8) + end
      ])
      guard case .frameNotSent? = parsed.error else {
        Issue.record("\(bytes): \(String(describing: parsed.error))")
        continue
      }
    }
  }

  @Test(arguments: [0, -1, 8 * 1024 * 1024 + 1, Int64.max] as [Int64])
  func aFrameOfAnImpossibleSizeIsAnError(count: Int64) {
    let parsed = Parsed([begin + Array("\(nonce) data out 0 0 \(count)\n".utf8)])
    #expect(parsed.error == .frameSize(count))
  }

  private static let before = (0..<700).map { UInt8($0 % 251) }
  private static let tail = Array(before.suffix(512))

  @Test func aShortFrameIsProvedByTheBytesThatEndWithIt() {
    let bytes = Array("short frame\n".utf8)
    var sent = Frame(
      stream: .out, generation: 0, offset: ByteOffset(700), bytes: bytes, first: nil,
      last: PosixChecksum.of((Self.before + bytes).suffix(512)))
    #expect(sent.isProved(after: Self.tail))
    #expect(!sent.isProved(after: []))
    sent.bytes[3] ^= 1
    #expect(!sent.isProved(after: Self.tail))
    sent.bytes[3] ^= 1
    sent.last = nil
    #expect(!sent.isProved(after: Self.tail))
  }

  @Test func aLongFrameIsProvedByTheBytesAroundItsStartToo() {
    let bytes = (0..<1000).map { UInt8($0 % 241) }
    var sent = Frame(
      stream: .out, generation: 0, offset: ByteOffset(700), bytes: bytes,
      first: PosixChecksum.of(Self.before.suffix(256) + bytes.prefix(256)),
      last: PosixChecksum.of(bytes.suffix(512)))
    #expect(sent.isProved(after: Self.tail))
    // The end is right, but what came before it is another file's.
    #expect(!sent.isProved(after: Array(Self.tail.dropLast() + [0])))
    sent.bytes[100] ^= 1
    #expect(!sent.isProved(after: Self.tail))
    sent.bytes[100] ^= 1
    sent.first = nil
    #expect(!sent.isProved(after: Self.tail))
  }

  @Test func theFirstFrameOfAFileIsProvedFromItsStart() {
    let sent = Frame(
      stream: .out, generation: 0, offset: .zero, bytes: Self.before,
      first: PosixChecksum.of(Self.before.prefix(256)), last: PosixChecksum.of(Self.tail))
    #expect(sent.isProved(after: []))
  }
}
