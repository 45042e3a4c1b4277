/// One line of a verb's answer, or one frame of a stream (docs/remote-protocol.md, Lines).
public enum Reply: Sendable, Hashable {
  /// The script runs.
  case begin(verb: String, version: Int)
  /// The reply is complete.
  case end
  /// The host has no bash.
  case noBash
  /// The verb could not do its work; the host's words.
  case error(ErrorKind, words: String)
  /// Launch waits for the payload.
  case ready
  /// The command was started: by this launch, or before (`again`).
  case started(again: Bool, pid: Int, pgid: Int, attempt: String)
  /// The command will never run.
  case refused(RefusalReason, words: String)
  /// A cancel won the link: the command will never run.
  case cancelled
  /// The job was removed.
  case removed
  /// One look at the job, without its exit record, and with a refusal's reason left out.
  case evidence(Evidence)
  /// The exit record.
  case exit(ExitRecord)
  /// `exec` itself failed, with 126 or 127.
  case noexec(Int, words: String)
  /// A stream's file as the follower begins to read it.
  case stream(JobStream, generation: Int, offset: ByteOffset, inode: String?)
  /// Bytes of a stream, whole and followed by their `sent`.
  case frame(Frame)
  /// This generation ends at `offset`; the file's size is now `size`.
  case gap(
    JobStream, generation: Int, reason: GapReason, offset: ByteOffset, size: ByteOffset)
  /// A sign of life of a follower: sizes and processes.
  case beat(
    outSize: ByteOffset, errSize: ByteOffset, leader: Evidence.Presence,
    supervisor: Evidence.Presence)
  /// The file ends before the size in the exit record.
  case short(JobStream, offset: ByteOffset, size: ByteOffset)
  /// Bytes beyond the sizes of the exit record.
  case late(outBytes: Int64, errBytes: Int64)
  /// What cancel just did.
  case step(String)
  /// Who a process is that one of the next lists names.
  case process(HostProcess)
  /// Before cancel's first signal: carriers of the cookie that are not in the job's group.
  case beyond([Int])
  /// Processes that live after KILL and sweep; none: proved dead.
  case survivors([Int])
  /// Living group members and cookie carriers that were left alone.
  case leftover([Int])
  /// A stream's size.
  case size(JobStream, bytes: ByteOffset, inode: String?)
  /// SHA-256 of a stream's first bytes, 64 hexadecimal digits.
  case digest(JobStream, bytes: ByteOffset, sha256: String)
  /// What follows is about this job, until the next of these.
  case job(JobID)
  /// The next bytes of the job's request file, which has `size` of them.
  case request(size: Int64, [UInt8])
  /// The next bytes of the job's prompt, which has `size` of them; a list tells its beginning only.
  case prompt(size: Int64, [UInt8])
  /// A directory beside the jobs whose name is no job's id.
  case other(directory: [UInt8])
  /// Something that doctor found; a value that could not be had is nil.
  case fact(String, [String?])

  /// Why a verb could not do its work.
  public enum ErrorKind: String, Sendable {
    case digest, payload, write, nostart, elsewhere, running, missing, stranger
  }
}

/// Bytes of one stream that were sent whole; whether they are the file's own, `isProved` says.
public struct Frame: Sendable, Hashable {
  /// Whose bytes these are.
  public var stream: JobStream
  /// Of which generation of the stream.
  public var generation: Int
  /// Where the bytes begin in the file.
  public var offset: ByteOffset
  /// The bytes, never none.
  public var bytes: [UInt8]
  /// The host's checksum of the bytes around the frame's start, from 256 before it to 256 after it,
  /// read again after sending; nil for a frame of at most 256 bytes.
  public var first: UInt32?
  /// The host's checksum of the ≤ 512 bytes that end at the frame's end, read again likewise.
  public var last: UInt32?

  /// A frame of these values.
  public init(
    stream: JobStream, generation: Int, offset: ByteOffset, bytes: [UInt8], first: UInt32?,
    last: UInt32?
  ) {
    self.stream = stream
    self.generation = generation
    self.offset = offset
    self.bytes = bytes
    self.first = first
    self.last = last
  }

  /// Whether both checksums fit what was received; `tail` are the ≤ 512 bytes before the frame
  /// (`LineAssembler.tail`).
  public func isProved(after tail: [UInt8]) -> Bool {
    let length = LineAssembler.fingerprintLength
    let ending =
      bytes.count >= length
      ? Array(bytes.suffix(length)) : Array((tail + bytes).suffix(length))
    guard last == PosixChecksum.of(ending) else { return false }
    guard bytes.count > length / 2 else { return true }
    return first == PosixChecksum.of(tail.suffix(length / 2) + bytes.prefix(length / 2))
  }
}
