import JobModel
import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct CommitTests {
  /// The log has room left, the database has none.
  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func aCommitStandsThoughItsCheckpointFindsTheDiskFull() async throws {
    let folder = try TemporaryFolder("disk")
    try await SmallDisk.with(bytes: 4 << 20, at: folder.path) { disk in
      let path = folder["pocket.db"]
      let store = try await JobStore(at: StoreLocation(path: path))
      await store.setLogLimit(0)
      try await store.insert(makeJob())
      let line = String(repeating: "x", count: 99_999) + "\n"
      for _ in 0..<5 { try await store.append(line, to: jobID(1)) }
      let filling = try await disk.fill()
      let result = try await store.append(line, to: jobID(1))
      #expect(result == .committed(through: ByteOffset(600_000)))
      #expect(try await store.bytes(of: jobID(1), .out).count == 600_000)
      #expect(unlink(filling) == 0)
      try await store.append(line, to: jobID(1))
      #expect(try await store.bytes(of: jobID(1), .out).count == 700_000)
      try TemporaryStore.checkInvariants(path)
    }
  }

  typealias Run = LineAssembler.Run
  let temporary: TemporaryStore
  let store: JobStore
  let id = jobID(1)

  init() async throws {
    temporary = try TemporaryStore()
    store = try await temporary.open()
    try await store.insert(makeJob())
  }

  private func run(_ offset: Int64, _ text: String, _ kind: Run.Kind = .lines) -> Run {
    Run(offset: ByteOffset(offset), bytes: Array(text.utf8), kind: kind)
  }

  @Test func bytesAndOffsetGoTogether() async throws {
    let runs = [run(0, "one\n"), run(4, "두\n"), run(8, "tail", .fragment)]
    let result = try await store.commit(runs, to: id, .out, generation: 0, at: .zero)
    #expect(result == .committed(through: ByteOffset(12)))
    #expect(try await store.position(of: id, .out).offset == ByteOffset(12))
    #expect(try await store.position(of: id, .err).offset == .zero)
    let chunks = try await store.chunks(of: id, after: 0)
    #expect(chunks.map(\.offset.rawValue) == [0, 4, 8])
    #expect(chunks.map(\.kind) == [.lines, .lines, .fragment])
    #expect(Array(chunks.map(\.bytes).joined()) == Array("one\n두\ntail".utf8))
  }

  @Test func anotherOffsetOrGenerationIsAConflict() async throws {
    try await store.append("first\n", to: id)
    let late = [run(0, "first\n"), run(6, "more\n")]
    let expected = CommitResult.conflict(StreamPosition(offset: ByteOffset(6)))
    #expect(try await store.commit(late, to: id, .out, generation: 0, at: .zero) == expected)
    #expect(
      try await store.commit([run(9, "x\n")], to: id, .out, generation: 0, at: ByteOffset(9))
        == expected)
    #expect(
      try await store.commit([run(6, "x\n")], to: id, .out, generation: 1, at: ByteOffset(6))
        == expected)
    #expect(try await store.bytes(of: id, .out) == Array("first\n".utf8))
    let rest = Run.remaining(of: late, after: ByteOffset(6))
    #expect(
      try await store.commit(rest, to: id, .out, generation: 0, at: ByteOffset(6))
        == .committed(through: ByteOffset(11)))
  }

  @Test func runsThatDoNotJoinAreRefused() async throws {
    for runs in [[run(1, "a\n")], [run(0, "a\n"), run(3, "b\n")], [run(0, "a\n"), run(1, "b\n")]] {
      await #expect(throws: StoreError.self) {
        try await store.commit(runs, to: id, .out, generation: 0, at: .zero)
      }
    }
    #expect(try await store.chunks(of: id, after: 0).isEmpty)
  }

  @Test func aGapBeginsTheNextGenerationOnce() async throws {
    try await store.append("old\n", to: id)
    func end(_ generation: Int) async throws -> Bool {
      try await store.endGeneration(
        of: id, .out, generation: generation, reason: .rewritten, at: ByteOffset(6), newInode: "77")
    }
    #expect(try await end(0))
    #expect(try await !end(0))
    #expect(
      try await store.position(of: id, .out)
        == StreamPosition(generation: 1, offset: .zero, inode: "77"))
    try await store.append("new\n", to: id)
    #expect(try await store.bytes(of: id, .out, generation: 0) == Array("old\n".utf8))
    #expect(try await store.bytes(of: id, .out, generation: 1) == Array("new\n".utf8))
    let generations = try await store.generations(of: id, .out)
    #expect(generations.map(\.ended) == [.rewritten, nil])
    #expect(generations.map(\.endedAt) == [ByteOffset(6), nil])
    #expect(generations.map(\.position.offset) == [ByteOffset(4), ByteOffset(4)])
  }

  @Test func theFirstInodeStays() async throws {
    try await store.identify(inode: "5", of: id, .err, generation: 0)
    try await store.identify(inode: "6", of: id, .err, generation: 0)
    #expect(try await store.position(of: id, .err).inode == "5")
    #expect(try await store.position(of: id, .out).inode == nil)
  }

  @Test func theTailIsWhatLiesBeforeAPosition() async throws {
    var all: [UInt8] = []
    for number in 0..<40 {
      let text = "line \(number) \(String(repeating: "x", count: number))\n"
      try await store.append(text, to: id)
      all += Array(text.utf8)
    }
    for offset in [0, 1, 7, 300, 511, 512, 513, 700, all.count] {
      let position = StreamPosition(offset: ByteOffset(Int64(offset)))
      let tail = try await store.tail(of: id, .out, before: position)
      #expect(tail == Array(all[..<offset].suffix(512)), "at \(offset)")
    }
    #expect(try await store.tail(of: id, .err, before: StreamPosition()).isEmpty)
  }

  @Test func rowsAreReadInPagesAndInCommitOrder() async throws {
    for number in 0..<10 {
      try await store.append("out \(number)\n", to: id, .out)
      try await store.append("err \(number)\n", to: id, .err)
    }
    var read: [Chunk] = []
    while true {
      let page = try await store.chunks(of: id, after: read.last?.sequence ?? 0, limitBytes: 20)
      if page.isEmpty { break }
      #expect(page.count <= 4)
      read += page
    }
    let texts = read.map { String(decoding: $0.bytes, as: UTF8.self) }
    #expect(texts == (0..<10).flatMap { ["out \($0)\n", "err \($0)\n"] })
  }

  @Test func theDigestIsThatOfTheJoinedRows() async throws {
    var all: [UInt8] = []
    for number in 0..<50 {
      let text = String(repeating: "\(number)", count: 1 + number * 97) + "\n"
      try await store.append(text, to: id, .err)
      all += Array(text.utf8)
    }
    let digest = try await store.prefixDigest(of: id, .err, generation: 0)
    #expect(digest.bytes == ByteOffset(Int64(all.count)))
    #expect(digest.sha256 == SHA256.hexDigest(of: all))
    let empty = try await store.prefixDigest(of: id, .out, generation: 0)
    #expect(empty.bytes == .zero)
    #expect(empty.sha256 == SHA256.hexDigest(of: []))
  }

  /// Takes `bytes` as a follower does, from `position` on, until all is committed; returns how often
  /// another follower was first.
  private static func follow(
    _ bytes: [UInt8], of id: JobID, in store: JobStore, from position: StreamPosition, chunk: Int
  ) async throws -> Int {
    var conflicts = 0
    var assembler = LineAssembler(position: position)
    var committed = position.offset
    var rest = bytes[Int(position.offset.rawValue)...]
    while !rest.isEmpty {
      // The other one may be ahead by more than one chunk.
      var runs = Run.remaining(of: assembler.append(Array(rest.prefix(chunk))), after: committed)
      rest = rest.dropFirst(chunk)
      while !runs.isEmpty {
        switch try await store.commit(runs, to: id, .out, generation: 0, at: committed) {
        case .committed(let end):
          committed = end
          runs = []
        case .conflict(let now):
          conflicts += 1
          committed = now.offset
          runs = Run.remaining(of: runs, after: committed)
        }
      }
    }
    return conflicts
  }

  @Test func twoFollowersOfOneJobDoubleNothing() async throws {
    let bytes = Array((0..<3000).map { "line \($0) 줄\n" }.joined().utf8)
    let (first, second, id) = (store, try await temporary.open(), id)
    // Both begin at 0, so at least one of them must lose once.
    let start = try await store.position(of: id, .out)
    async let one = Self.follow(bytes, of: id, in: first, from: start, chunk: 700)
    async let two = Self.follow(bytes, of: id, in: second, from: start, chunk: 1100)
    let conflicts = try await one + two
    #expect(conflicts > 0)
    #expect(try await store.bytes(of: id, .out) == bytes)
  }
}
