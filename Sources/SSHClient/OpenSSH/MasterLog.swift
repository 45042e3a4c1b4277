/// What a master says on stderr (LogLevel DEBUG1): how far it has come, and its words.
struct MasterLog: Sendable {
  /// The latest step that it has begun.
  private(set) var stage = Stage.configuring
  /// Its last lines that are not for debugging.
  private(set) var words: [String] = []
  /// What it agreed on with the server.
  private(set) var agreement = MasterAgreement()
  private var rest: [UInt8] = []

  enum Stage: Int, Comparable, Sendable {
    case configuring, connecting, banner, exchangingKeys, checkingHostKey, authenticating
    case established

    static func < (one: Stage, other: Stage) -> Bool { one.rawValue < other.rawValue }
  }

  /// How a step shows. The words have been the same since OpenSSH 7.4 at least; where they are not,
  /// an error names an earlier step, and nothing else goes wrong.
  private static let marks: [(String, Stage)] = [
    ("debug1: Connecting to ", .connecting), ("debug1: Executing proxy command", .connecting),
    ("debug1: Connection established", .banner),
    ("debug1: Remote protocol version", .exchangingKeys),
    ("debug1: Server host key", .checkingHostKey), ("debug1: rekey out after", .authenticating),
    ("debug1: SSH2_MSG_NEWKEYS sent", .authenticating),
    ("debug1: Entering interactive session", .established),
  ]
  private static let mostWords = 40
  /// A line that is longer than a command's echo is no line of ssh's.
  private static let longestLine = 64 << 10

  mutating func consume(_ bytes: [UInt8]) {
    rest += bytes
    while let end = rest.firstIndex(of: 0x0A) {
      take(String(saidLine: rest[..<end]))
      rest.removeSubrange(...end)
    }
    if rest.count > Self.longestLine { rest.removeAll() }
  }

  private mutating func take(_ line: String) {
    if let (_, next) = Self.marks.first(where: { line.hasPrefix($0.0) }) {
      stage = max(stage, next)
    }
    agreement.note(line)
    let isNoise =
      line.isEmpty || line.hasPrefix("debug") || line.hasPrefix("OpenSSH_")
      || line.hasPrefix("Authenticated to ") || line.hasPrefix("Transferred: ")
      || line.hasPrefix("Bytes per second: ") || line.hasPrefix("Warning: Permanently added ")
    if !isNoise { words = (words + [line]).suffix(Self.mostWords) }
  }

  /// ssh gave up on a server that said nothing for a while before the login was over.
  var wasTooSlow: Bool {
    (.exchangingKeys ... .authenticating).contains(stage)
      && words.contains { $0.hasPrefix("Connection to ") && $0.contains(" timed out") }
  }

  /// The latest word about a channel that the server did not open:
  /// `channel 8: open failed: connect failed: open failed`.
  var refusedOpening: String? {
    words.last { $0.hasPrefix("channel ") && $0.contains(": open failed: ") }
  }
}
