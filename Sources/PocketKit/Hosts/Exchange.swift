import JobModel
import RemoteScripts
import SSHClient

/// One verb on one channel: its replies in order, and what the host said beside them. It belongs to
/// one task; only `process` may be used by others, to write.
struct Exchange {
  /// How long a host's startup files may take before the script's first line.
  static let firstReplyLimit = Duration.seconds(45)
  /// A follower beats every 2 s. When nothing comes for so long over a link that lives, the host's
  /// side is stuck.
  static let replyLimit = Duration.seconds(30)
  /// A digest of a large file on a slow disk is silent for long; the link is watched all the same.
  static let digestLimit = Duration.seconds(3600)

  /// How long the next reply may take.
  var limit = Exchange.replyLimit

  let host: String
  let nonce: String
  let process: any RemoteProcess
  private var parser: ReplyParser
  private var replies: ArraySlice<Reply> = []
  private var errorWords: [UInt8] = []
  private var hasBegun = false

  init(host: String, nonce: String, process: any RemoteProcess) {
    self.host = host
    self.nonce = nonce
    self.process = process
    parser = ReplyParser(nonce: nonce)
  }

  /// The next reply; nil after `end`.
  ///
  /// - Throws: `JobError`: the link's, `.protocolBroken` for an answer that is not whole or not in
  ///   time, `.noBash`, and `.hostFailed` when the script says that it could not do its work.
  mutating func next() async throws -> Reply? {
    while true {
      if let reply = replies.popFirst() {
        switch reply {
        case .begin:
          hasBegun = true
          continue
        case .end: return nil
        case .noBash: throw JobError.noBash(host: host)
        case .error(let kind, let words):
          throw JobError.hostFailed(host: host, kind, words: words)
        default: return reply
        }
      }
      try await readMore()
    }
  }

  /// What startup files have written, on stdout before our first line and on stderr: the last of it.
  var noise: [UInt8] { parser.noise + errorWords }

  /// Reads to the end of the reply.
  mutating func rest() async throws -> [Reply] {
    var all: [Reply] = []
    while let reply = try await next() { all.append(reply) }
    return all
  }

  private mutating func readMore() async throws {
    let process = process
    let limit = hasBegun ? limit : Self.firstReplyLimit
    let output: RemoteOutput?
    do {
      output = try await within(limit) { try await process.read() }
    } catch let error as SSHError {
      throw JobError(error)
    }
    do {
      switch output {
      case .standardOutput(let bytes): replies += try parser.consume(bytes)
      case .standardError(let bytes): errorWords = Array((errorWords + bytes).suffix(4096))
      case .endOfFile: try parser.finish()
      case nil:
        throw JobError.protocolBroken(
          host: host, "no answer within \(limit.components.seconds) s" + said)
      }
    } catch let error as ReplyError {
      throw JobError.protocolBroken(host: host, "\(error)" + said)
    }
  }

  /// What the host said that was not for us: the cause of a failure is often there.
  private var said: String {
    let words = parser.noise.isEmpty ? errorWords : parser.noise + errorWords
    let lines = words.split { $0 == 0x0A || $0 == 0x0D }.suffix(5)
    let text = lines.map { String(decoding: $0, as: UTF8.self) }
    return text.isEmpty ? "" : "; the host said: " + text.joined(separator: " | ")
  }
}

extension JobError {
  /// An error of the link, as one about a job.
  init(_ error: SSHError) {
    self = error.kind == .cancelled ? .cancelled : .host(error)
  }
}
