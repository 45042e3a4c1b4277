/// How a leader ended, as its supervisor wrote it down (`exit` in the job directory).
public enum ExitStatus: Hashable, Sendable {
  /// It called `exit` with this code, 0 to 255.
  case code(Int)
  /// A signal with this number ended it.
  case signal(Int)
  /// The supervisor could not tell the two apart; the shell's number was this.
  case unknown(Int)
}

/// The supervisor's record of a job's end: one line,
/// `v=1 how=code status=0 out=12 err=0 started=1764486000 ended=1764486060 cancel=no end`,
/// padded with spaces to a fixed size. Without the closing word `end` it is no record.
public struct ExitRecord: Hashable, Sendable {
  /// A limit of the job's that made the host end it.
  public enum Limit: String, Hashable, Sendable { case timeout, output }

  /// How the leader ended.
  public var status: ExitStatus
  /// The size of `out.jsonl` in bytes, taken when the group was empty or 1 s after the leader died.
  public var outSize: ByteOffset
  /// The size of `err.log` in bytes, taken at the same moment.
  public var errSize: ByteOffset
  /// When the supervisor started the leader, in seconds since 1970 by the host's clock.
  public var startedAt: Int64
  /// When the record was written, in seconds since 1970 by the host's clock.
  public var endedAt: Int64
  /// Whether a cancel had been linked before this record was written.
  public var cancelRequested: Bool
  /// Whether nothing could be written to the job directory any more.
  public var diskWasFull: Bool
  /// Whether the leader died of SIGKILL and the kernel has killed a process of its control group for
  /// want of memory meanwhile.
  public var memoryWasShort: Bool
  /// The limit for which the host ended the job, if it did.
  public var limit: Limit?
  /// The streams that were ended by a marker line at the limit on output; what the job wrote to them
  /// later is gone.
  public var cappedStreams: Set<JobStream>

  /// A record of these values.
  public init(
    status: ExitStatus, outSize: ByteOffset, errSize: ByteOffset, startedAt: Int64, endedAt: Int64,
    cancelRequested: Bool, diskWasFull: Bool = false, memoryWasShort: Bool = false,
    limit: Limit? = nil, cappedStreams: Set<JobStream> = []
  ) {
    self.status = status
    self.outSize = outSize
    self.errSize = errSize
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.cancelRequested = cancelRequested
    self.diskWasFull = diskWasFull
    self.memoryWasShort = memoryWasShort
    self.limit = limit
    self.cappedStreams = cappedStreams
  }

  /// Reads the record's text; nil when it is not whole, not of version 1, or not well formed.
  public init?(_ text: some StringProtocol) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.first == "v=1", words.last == "end" else { return nil }
    var fields: [Substring: Substring] = [:]
    for word in words.dropFirst().dropLast() {
      let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { return nil }
      fields[Substring(pair[0])] = Substring(pair[1])
    }
    func number(_ key: Substring) -> Int64? {
      fields[key].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
    guard let how = fields["how"], let status = number("status"), status <= 255,
      let out = number("out"), let err = number("err"), let started = number("started"),
      let ended = number("ended"), let cancel = fields["cancel"]
    else { return nil }
    switch how {
    case "code": self.status = .code(Int(status))
    case "signal": self.status = .signal(Int(status))
    case "unknown": self.status = .unknown(Int(status))
    default: return nil
    }
    outSize = ByteOffset(out)
    errSize = ByteOffset(err)
    startedAt = started
    endedAt = ended
    cancelRequested = cancel == "yes"
    diskWasFull = fields["disk"] == "full"
    memoryWasShort = fields["oom"] == "counted"
    limit = fields["limit"].flatMap { Limit(rawValue: String($0)) }
    let capped = fields["capped"].map { $0.split(separator: ",") } ?? []
    cappedStreams = Set(capped.compactMap { JobStream(rawValue: String($0)) })
  }

  /// The size of one stream at the end, in bytes.
  public func size(of stream: JobStream) -> ByteOffset { stream == .out ? outSize : errSize }
}

extension ExitRecord: CustomStringConvertible {
  /// The record's text, without padding.
  public var description: String {
    let (how, number) =
      switch status {
      case .code(let code): ("code", code)
      case .signal(let signal): ("signal", signal)
      case .unknown(let number): ("unknown", number)
      }
    let capped = JobStream.allCases.filter(cappedStreams.contains).map(\.rawValue)
    return "v=1 how=\(how) status=\(number) out=\(outSize) err=\(errSize) started=\(startedAt)"
      + " ended=\(endedAt) cancel=\(cancelRequested ? "yes" : "no")"
      + (limit.map { " limit=\($0.rawValue)" } ?? "")
      + (capped.isEmpty ? "" : " capped=\(capped.joined(separator: ","))")
      + (diskWasFull ? " disk=full" : "") + (memoryWasShort ? " oom=counted" : "") + " end"
  }
}
