/// Reads an agent's stdout, piece by piece, into events, and keeps what they said of the run.
public struct AgentReader: Sendable {
  /// A longer line is passed over, in bytes. Agents write an answer of 5 MB as one line.
  public static let longestLine = 16 << 20

  /// The agent session's id, once an event has told it.
  public private(set) var session: String?
  /// The last result's outcome; nil while there is none, and for ever after some kinds of death.
  public private(set) var outcome: AgentOutcome?

  private let agent: any Agent
  private var unfinished: [UInt8] = []
  private var tooLong = false

  /// A reader that stands at the beginning of a line.
  public init(agent: any Agent) { self.agent = agent }

  /// The events in the lines that `bytes`, the next of the stream, complete.
  public mutating func read(_ bytes: some Sequence<UInt8>) -> [AgentEvent] {
    var events: [AgentEvent] = []
    let bytes = Array(bytes)
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 0x0A) {
      append(rest[..<end])
      events += finish()
      rest = rest[(end + 1)...]
    }
    append(rest)
    return events
  }

  /// The events in the last line of a finished stream, which has no 0x0A.
  public mutating func finish() -> [AgentEvent] {
    defer {
      unfinished.removeAll(keepingCapacity: unfinished.capacity <= 64 << 10)
      tooLong = false
    }
    if tooLong { return [.error("a line longer than \(Self.longestLine) bytes is not shown")] }
    let events = agent.events(in: unfinished)
    for event in events {
      switch event {
      case .sessionStarted(let id): session = id
      case .result(let outcome, _): self.outcome = outcome
      default: break
      }
    }
    return events
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    if tooLong || unfinished.count + bytes.count > Self.longestLine {
      tooLong = true
      unfinished = []
    } else {
      unfinished += bytes
    }
  }
}
