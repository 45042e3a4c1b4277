/// Cuts one generation of a stream into runs of whole lines, which are what may be committed.
///
/// A line ends with 0x0A and nothing else. Two exceptions are marked in `Run.Kind`: pieces of a line
/// over 8 MiB, and the last fragment of a stream that has ended. Work is linear in the bytes, in
/// whatever chunks they come; memory is bounded by one piece.
public struct LineAssembler: Sendable {
  /// A run of whole lines is at most this long, in bytes, unless it is one longer line.
  public static let runLimit = 256 * 1024
  /// A line longer than this, in bytes, is cut into pieces of this length.
  public static let pieceLimit = 8 * 1024 * 1024
  /// How many bytes before a position make its fingerprint (docs/remote-protocol.md, Follow).
  public static let fingerprintLength = 512

  /// At least the tail; trimmed now and then, so that byte-wise input moves few bytes.
  private var recent: [UInt8]
  private var committed: ByteOffset
  private var pending: [UInt8] = []
  /// Whether what comes next belongs to a line whose beginning went out as a piece.
  private var continuesLine: Bool
  private let runLimit: Int
  private let pieceLimit: Int

  /// Begins at a committed position; `tail` are the ≤ 512 bytes before it. They also tell whether
  /// the position is inside a long line, so that the rest of that line is marked as a piece. Other
  /// limits than the usual ones are for tests; all readers of a stream must have the same.
  public init(
    position: StreamPosition, tail: [UInt8] = [], runLimit: Int = LineAssembler.runLimit,
    pieceLimit: Int = LineAssembler.pieceLimit
  ) {
    self.runLimit = runLimit
    self.pieceLimit = pieceLimit
    committed = position.offset
    recent = Array(tail.suffix(Self.fingerprintLength))
    continuesLine = tail.last.map { $0 != 0x0A } ?? false
  }

  /// The offset after the last byte taken in.
  public var received: ByteOffset { committed + pending.count }

  /// The bytes before `received`, at most 512 of them: what a fingerprint is taken of.
  public var tail: [UInt8] { Array(recent.suffix(Self.fingerprintLength)) }

  /// How many bytes wait for the end of their line.
  public var pendingBytes: Int { pending.count }

  /// Takes in the bytes that begin at `received`; returns what is complete with them, in order.
  public mutating func append(_ bytes: [UInt8]) -> [Run] {
    let runs = bytes.withUnsafeBufferPointer { cut($0) }
    recent.append(contentsOf: bytes.suffix(Self.fingerprintLength))
    if recent.count > 8 * Self.fingerprintLength {
      recent.removeFirst(recent.count - Self.fingerprintLength)
    }
    return runs
  }

  /// The stream has ended: what is left is its last fragment.
  public mutating func finish() -> [Run] {
    guard !pending.isEmpty else { return [] }
    return [take(.fragment)]
  }

  private mutating func cut(_ bytes: UnsafeBufferPointer<UInt8>) -> [Run] {
    var runs: [Run] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if let end = endOfRun(in: rest) {
        pending.append(contentsOf: rest[...end])
        rest = rest[(end + 1)...]
        runs.append(take(continuesLine ? .piece : .lines))
        continuesLine = false
      } else {
        let part = rest.prefix(pieceLimit - pending.count)
        pending.append(contentsOf: part)
        rest = rest.dropFirst(part.count)
        if pending.count == pieceLimit {
          runs.append(take(.piece))
          continuesLine = true
        }
      }
    }
    return runs
  }

  /// The newline in `rest` that ends the next run: the last one that keeps the run within its
  /// limit, else the first one that keeps the line within a piece.
  private func endOfRun(in rest: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    if !continuesLine, pending.count < runLimit,
      let last = UnsafeBufferPointer(rebasing: rest.prefix(runLimit - pending.count))
        .lastNewline
    {
      return rest.startIndex + last
    }
    let line = UnsafeBufferPointer(rebasing: rest.prefix(pieceLimit - pending.count))
    return line.firstNewline.map { rest.startIndex + $0 }
  }

  private mutating func take(_ kind: Run.Kind) -> Run {
    let run = Run(offset: committed, bytes: pending, kind: kind)
    committed = received
    pending = []
    return run
  }
}
