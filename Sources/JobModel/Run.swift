extension LineAssembler {
  /// Bytes of a stream that are committed together.
  public struct Run: Sendable, Hashable {
    /// What the bytes are.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// Whole lines.
      case lines
      /// A part of a line that is over 8 MiB; the last one ends with the line's 0x0A.
      case piece
      /// What a stream that has ended holds after its last 0x0A.
      case fragment
    }

    /// Where the bytes begin in the generation's file.
    public var offset: ByteOffset
    /// The bytes, never none.
    public var bytes: [UInt8]
    /// What the bytes are.
    public var kind: Kind

    /// A run of these values.
    public init(offset: ByteOffset, bytes: [UInt8], kind: Kind) {
      self.offset = offset
      self.bytes = bytes
      self.kind = kind
    }

    /// The offset after the last byte.
    public var end: ByteOffset { offset + bytes.count }

    /// What of `runs` lies behind `offset`: for a reader that lost a compare-and-swap, the part that
    /// the winner has not committed.
    public static func remaining(of runs: [Run], after offset: ByteOffset) -> [Run] {
      runs.compactMap { run in
        guard run.end > offset else { return nil }
        guard run.offset < offset else { return run }
        let rest = Array(run.bytes[(offset - run.offset)...])
        return Run(offset: offset, bytes: rest, kind: run.kind)
      }
    }
  }
}
