import JobModel
import Testing

@Suite struct LineAssemblerTests {
  typealias Run = LineAssembler.Run

  /// All runs of `chunks`, with the last fragment, after checking what holds for any input.
  private func runs(
    of chunks: [[UInt8]], at start: ByteOffset = .zero, tail: [UInt8] = [],
    runLimit: Int = LineAssembler.runLimit, pieceLimit: Int = LineAssembler.pieceLimit
  ) -> [Run] {
    var assembler = LineAssembler(
      position: StreamPosition(offset: start), tail: tail, runLimit: runLimit,
      pieceLimit: pieceLimit)
    var runs: [Run] = []
    var all: [UInt8] = []
    var isSound = true
    for chunk in chunks {
      runs += assembler.append(chunk)
      all += chunk
      isSound =
        isSound && assembler.received == start + all.count
        && assembler.pendingBytes < pieceLimit
        && (runs.last?.end ?? start) + assembler.pendingBytes == assembler.received
    }
    #expect(isSound)
    runs += assembler.finish()
    #expect(assembler.finish().isEmpty)
    #expect(assembler.tail == Array((tail + all).suffix(512)))
    var stored: [UInt8] = []
    for run in runs {
      isSound =
        isSound && run.offset == start + stored.count && isWellFormed(run, runLimit, pieceLimit)
      stored += run.bytes
    }
    #expect(isSound)
    #expect(stored == all)
    return runs
  }

  private func isWellFormed(_ run: Run, _ runLimit: Int, _ pieceLimit: Int) -> Bool {
    guard run.kind == .lines, run.bytes.last == 0x0A else {
      return run.kind != .lines && !run.bytes.isEmpty
        && run.bytes.count <= pieceLimit
    }
    return run.bytes.count <= runLimit
      || run.bytes.dropLast().firstIndex(of: 0x0A) == nil
  }

  /// Runs of whole lines may be cut differently, between any two lines; all else is the same.
  private func joined(_ runs: [Run]) -> [Run] {
    runs.reduce(into: []) { joined, run in
      if run.kind == .lines, joined.last?.kind == .lines {
        joined[joined.count - 1].bytes += run.bytes
      } else {
        joined.append(run)
      }
    }
  }

  @Test(arguments: [
    "", "\n", "one\n", "no end", "a\nb\n\nc", "안녕하세요 🌊\n두 번째 줄 👩‍👩‍👧‍👦\n끝",
    "cr\r\ncr only\rstill\n", "u2028 \u{2028} u0085 \u{85} vt \u{0B} ff \u{0C}\nnext\n",
    "nul \0 inside\n\0\n\0",
  ])
  func everySplitGivesTheSameRuns(text: String) {
    let bytes = Array(text.utf8)
    let whole = joined(runs(of: [bytes]))
    for chunks in simpleSplits(bytes) { #expect(joined(runs(of: chunks)) == whole) }
  }

  @Test func onlyALineFeedEndsALine() {
    let text = "a\rb\u{2028}c\u{2029}d\u{85}e\u{0B}f\u{0C}g"
    let found = runs(of: [Array((text + "\nrest").utf8)])
    #expect(found.map(\.kind) == [.lines, .fragment])
    #expect(found[0].bytes == Array((text + "\n").utf8))
  }

  @Test func aLineWaitsForItsEnd() {
    var assembler = LineAssembler(position: StreamPosition(offset: ByteOffset(100)))
    #expect(assembler.append(Array("half".utf8)).isEmpty)
    #expect(assembler.pendingBytes == 4)
    #expect(
      assembler.append(Array(" and half\nnew".utf8))
        == [Run(offset: ByteOffset(100), bytes: Array("half and half\n".utf8), kind: .lines)])
    #expect(assembler.received == ByteOffset(117))
    #expect(
      assembler.finish()
        == [Run(offset: ByteOffset(114), bytes: Array("new".utf8), kind: .fragment)])
  }

  @Test func runsStayWithinTheirLimit() {
    let line = Array(repeating: UInt8(0x61), count: 999) + [0x0A]
    let bytes = Array(repeatElement(line, count: 2000).joined())
    let found = runs(of: [bytes])
    #expect(found.count == 8)
    #expect(found.allSatisfy { $0.kind == .lines && $0.bytes.count <= 256 * 1024 })
  }

  @Test func aLineLongerThanARunIsItsOwnRun() {
    let long = Array(repeating: UInt8(0x62), count: 300_000) + [0x0A]
    let found = runs(of: [Array("a\n".utf8) + long + Array("c\n".utf8)])
    #expect(found.map(\.bytes.count) == [2, 300_001, 2])
    #expect(found.allSatisfy { $0.kind == .lines })
  }

  @Test(arguments: [0, 1, 7])
  func aLineOverEightMebibytesGoesInPieces(beyond: Int) {
    let limit = LineAssembler.pieceLimit
    let long = [UInt8](repeating: 0x62, count: limit + beyond - 1) + [0x0A]
    let bytes = Array("a\n".utf8) + long + Array("c\n".utf8)
    let whole = runs(of: [bytes])
    let kinds = whole.map(\.kind)
    switch beyond {
    case ...0: #expect(kinds == [.lines, .lines, .lines])
    default:
      #expect(kinds == [.lines, .piece, .piece, .lines])
      #expect(whole[1].bytes.count == limit)
    }
    for seed in 1...2 as ClosedRange<UInt64> {
      let chunks = randomChunks(bytes, longest: 3_000_000, seed: seed)
      #expect(joined(runs(of: chunks)) == joined(whole), "seed \(seed)")
    }
  }

  @Test(arguments: 1...30)
  func everySplitGivesTheSamePiecesAndARestartGoesOn(pieceLimit: Int) {
    let bytes = Array("a\n\nbcdef\nghijklmnopqrs\n\ntuvwxyzabcdefghijklmnopqrst".utf8)
    let runLimit = max(1, pieceLimit / 3)
    let whole = joined(runs(of: [bytes], runLimit: runLimit, pieceLimit: pieceLimit))
    for chunks in simpleSplits(bytes) {
      let found = runs(of: chunks, runLimit: runLimit, pieceLimit: pieceLimit)
      #expect(joined(found) == whole)
      // From any committed offset a new assembler gives what this one would have given.
      for (index, run) in found.enumerated() where run.kind != .fragment {
        let end = Int(run.end.rawValue)
        let again = runs(
          of: [Array(bytes[end...])], at: run.end, tail: Array(bytes[..<end]), runLimit: runLimit,
          pieceLimit: pieceLimit)
        #expect(joined(again) == joined(Array(found[(index + 1)...])))
      }
    }
  }

  @Test func theRestOfALongLineIsAPieceAfterARestart() {
    let limit = LineAssembler.pieceLimit
    let bytes = [UInt8](repeating: 0x62, count: limit + 10) + Array("\nnext\n".utf8)
    let whole = runs(of: [bytes])
    let again = runs(
      of: [Array(bytes[limit...])], at: ByteOffset(Int64(limit)), tail: Array(bytes[..<limit]))
    #expect(again == Array(whole[1...]))
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func randomBytesInRandomChunksGiveTheSameRuns(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let everyNth = UInt8.random(in: 1...255, using: &generator)
    let bytes = (0..<30_000).map { _ in
      UInt8.random(in: 0...everyNth, using: &generator) == 0
        ? 0x0A : UInt8.random(in: 0...255, using: &generator)
    }
    let whole = joined(runs(of: [bytes]))
    let longest = [1, 17, 4096, 20_000][Int(seed % 4)]
    #expect(joined(runs(of: randomChunks(bytes, longest: longest, seed: seed))) == whole)
  }

  @Test func bytewiseInputTakesLinearTime() {
    // With quadratic work each block would take longer than the one before.
    var assembler = LineAssembler(position: StreamPosition())
    let clock = ContinuousClock()
    func time(_ count: Int) -> Duration {
      clock.measure { for _ in 0..<count { _ = assembler.append([0x61]) } }
    }
    let first = time(10_000)
    let later = (0..<9).map { _ in time(10_000) }.min() ?? .zero
    #expect(later < first * 4 + .milliseconds(200))
  }

  @Test func theLoserOfARaceKeepsWhatTheWinnerLeft() {
    let found = runs(of: [Array("one\ntwo\n".utf8), Array("three\n".utf8)])
    #expect(Run.remaining(of: found, after: .zero) == found)
    let rest = Run.remaining(of: found, after: ByteOffset(4))
    #expect(rest.map(\.bytes) == [Array("two\n".utf8), Array("three\n".utf8)])
    #expect(rest.map(\.offset) == [ByteOffset(4), ByteOffset(8)])
    #expect(Run.remaining(of: found, after: ByteOffset(8)) == [found[1]])
    #expect(Run.remaining(of: found, after: ByteOffset(14)).isEmpty)
  }
}
