/// Reads the bytes of a channel's stdout as replies (docs/remote-protocol.md).
///
/// A pure value: the same bytes give the same replies and the same error in whatever chunks they
/// come. Work is linear in the bytes; memory is bounded by one frame and one line. Once it has
/// thrown it throws the same again.
public struct ReplyParser: Sendable {
  /// The longest line of the script's, in bytes, without its line end.
  public static let lineLimit = 64 * 1024
  /// The longest frame, in bytes.
  public static let frameLimit = 8 * 1024 * 1024
  /// How much noise is kept, in bytes.
  public static let noiseLimit = 4 * 1024

  private enum Phase { case noise, replies, ended }

  private let nonce: [UInt8]
  private var phase = Phase.noise
  private var line: [UInt8] = []
  /// Whether the rest of a noise line that was too long to be kept is being passed over.
  private var skipsLine = false
  private var frame: Frame?
  private var missingFrameBytes = 0
  private var recentNoise: [UInt8] = []
  private var failure: ReplyError?

  /// A parser of the answer to the command that was given `nonce`.
  public init(nonce: String) { self.nonce = Array(nonce.utf8) }

  /// The last of what came before `begin`, at most 4 KiB: for error messages.
  public var noise: [UInt8] {
    Array((phase == .noise ? recentNoise + line : recentNoise).suffix(Self.noiseLimit))
  }

  /// Whether the reply is complete.
  public var isComplete: Bool { phase == .ended }

  /// Takes in the next bytes; returns what is complete with them. Replies that came before a fault
  /// are returned first; the fault is thrown by the next call.
  public mutating func consume(_ bytes: [UInt8]) throws(ReplyError) -> [Reply] {
    if let failure { throw failure }
    var replies: [Reply] = []
    do throws(ReplyError) {
      try bytes.withUnsafeBufferPointer { buffer throws(ReplyError) in
        try read(buffer, into: &replies)
      }
    } catch {
      failure = error
      line = []
      frame = nil
      if replies.isEmpty { throw error }
    }
    return replies
  }

  /// The channel has ended; throws when the reply was not complete.
  public mutating func finish() throws(ReplyError) {
    if let failure { throw failure }
    if phase != .ended { throw .incomplete(began: phase == .replies, noise: noise) }
  }

  private mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, into replies: inout [Reply]
  ) throws(ReplyError) {
    var index = 0
    while index < bytes.count, phase != .ended {
      let rest = UnsafeBufferPointer(rebasing: bytes[index...])
      if missingFrameBytes > 0 {
        let part = rest.prefix(missingFrameBytes)
        frame?.bytes.append(contentsOf: part)
        missingFrameBytes -= part.count
        index += part.count
      } else if let newline = rest.firstNewline {
        try keep(rest[..<newline])
        index += newline + 1
        try endLine(into: &replies)
      } else {
        try keep(rest[...])
        index = bytes.count
      }
    }
  }

  private mutating func keep(_ part: Slice<UnsafeBufferPointer<UInt8>>) throws(ReplyError) {
    if skipsLine {
      addNoise(part.suffix(Self.noiseLimit))
      return
    }
    let kept = part.prefix(Self.lineLimit + 1 - line.count)
    line.append(contentsOf: kept)
    guard line.count > Self.lineLimit else { return }
    guard phase == .noise else {
      throw frame == nil ? .lineTooLong(shown) : .frameNotSent(shown)
    }
    addNoise(line.suffix(Self.noiseLimit))
    addNoise(part.dropFirst(kept.count).suffix(Self.noiseLimit))
    line = []
    skipsLine = true
  }

  private mutating func endLine(into replies: inout [Reply]) throws(ReplyError) {
    defer { line.removeAll(keepingCapacity: true) }
    guard phase == .replies else {
      if let reply = openingReply {
        phase = reply == .noBash ? .ended : .replies
        replies.append(reply)
      } else {
        addNoise((skipsLine ? [] : line) + [0x0A])
        skipsLine = false
      }
      return
    }
    guard let words = ReplyWords(line, nonce: nonce) else {
      throw frame == nil ? .unexpected(shown) : .frameNotSent(shown)
    }
    if var sent = frame {
      guard words.word == "sent" else { throw .frameNotSent(shown) }
      guard let first = words.checksum(0), let last = words.checksum(1), words.count == 2 else {
        throw .malformed(shown)
      }
      frame = nil
      sent.first = first
      sent.last = last
      replies.append(.frame(sent))
    } else if words.word == "data" {
      try beginFrame(words)
    } else {
      guard let read = words.reply else { throw .malformed(shown) }
      guard case .reply(let reply) = read else { return }
      if reply == .end { phase = .ended }
      replies.append(reply)
    }
  }

  private mutating func beginFrame(_ words: ReplyWords) throws(ReplyError) {
    guard words.count == 4, let stream = words.stream(0), let generation = words.number(1),
      let offset = words.number(2), let count = words.integer(3)
    else { throw .malformed(shown) }
    guard (1...Int64(Self.frameLimit)).contains(count) else { throw .frameSize(count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(count))
    frame = Frame(
      stream: stream, generation: Int(generation), offset: ByteOffset(offset), bytes: bytes,
      first: nil, last: nil)
    missingFrameBytes = Int(count)
  }

  /// `begin`, or the word that a host without bash says. That one may stand behind half a line of a
  /// startup file's, since no script of ours could begin with a newline.
  private var openingReply: Reply? {
    if skipsLine { return nil }
    if line.suffix(nonce.count + 7) == nonce + Array(" nobash".utf8) { return .noBash }
    guard let words = ReplyWords(line, nonce: nonce), words.word == "begin",
      case .reply(let reply) = words.reply
    else { return nil }
    return reply
  }

  private mutating func addNoise(_ bytes: some Collection<UInt8>) {
    recentNoise.append(contentsOf: bytes)
    if recentNoise.count > 4 * Self.noiseLimit {
      recentNoise.removeFirst(recentNoise.count - Self.noiseLimit)
    }
  }

  private var shown: String { String(decoding: line.prefix(200), as: UTF8.self) }
}
