/// One of a job's two output files.
public enum JobStream: String, Sendable, Hashable, CaseIterable, Codable {
  /// The job's stdout: `out.jsonl`, the job file.
  case out
  /// The job's stderr: `err.log`.
  case err
}

/// A count of bytes from the start of a stream's file; as a position, the next byte to read.
public struct ByteOffset: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The count, in bytes. Never negative. 64 bits signed, as SQLite's integers are.
  public var rawValue: Int64

  /// The count `rawValue`, in bytes.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// The start of the file.
  public static let zero = ByteOffset(0)

  /// The count in decimal digits.
  public var description: String { String(rawValue) }
  /// Whether `left` lies before `right`.
  public static func < (left: ByteOffset, right: ByteOffset) -> Bool {
    left.rawValue < right.rawValue
  }
  /// The position `bytes` further on.
  public static func + (offset: ByteOffset, bytes: Int) -> ByteOffset {
    ByteOffset(offset.rawValue + Int64(bytes))
  }
  /// The distance in bytes from `right` to `left`.
  public static func - (left: ByteOffset, right: ByteOffset) -> Int {
    Int(left.rawValue - right.rawValue)
  }
}

/// Where a stream's reader stands: which generation of the file, and how much of it is committed.
public struct StreamPosition: Hashable, Sendable {
  /// Counts from 0; a gap ends one generation and begins the next.
  public var generation: Int
  /// The committed offset within the generation, in bytes.
  public var offset: ByteOffset
  /// The file's inode when the generation was first read, as the host's `ls` printed it.
  public var inode: String?

  /// A position in `generation` at `offset`.
  public init(generation: Int = 0, offset: ByteOffset = .zero, inode: String? = nil) {
    self.generation = generation
    self.offset = offset
    self.inode = inode
  }
}

/// Why a generation ended although its stream had not.
public enum GapReason: String, Sendable, Hashable, Codable {
  /// The file became shorter than what had been read.
  case shrunk
  /// Another file stands under the name.
  case replaced
  /// The bytes before the position are not what had been read.
  case rewritten
  /// There is no file.
  case missing
}
