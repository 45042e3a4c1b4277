/// An AI CLI that Pocket knows: how to start it, how to begin stopping it, how to read its events.
public protocol Agent: Sendable {
  /// The name it is chosen by (`--agent NAME`), and that of its program.
  var name: String { get }

  /// Whether a cancel begins with INT to the leader. True where INT lets the agent write its last
  /// event and end its tools, which live in sessions of their own and which no group kill reaches.
  var cancelBeginsWithInterrupt: Bool { get }

  /// The versions that it was checked with.
  var tested: ClosedRange<AgentVersion> { get }

  /// How it can be told whether somebody has logged in.
  var credentials: AgentCredentials { get }

  /// What starts a new conversation. `arguments` are the user's own (`--agent-arg`), verbatim.
  func command(arguments: [[UInt8]]) -> AgentCommand

  /// The events in one line of its stdout, without the 0x0A. A line of an unknown kind has none;
  /// no line is an error.
  func events(in line: [UInt8]) -> [AgentEvent]
}

/// What starts an agent.
public struct AgentCommand: Sendable, Hashable {
  /// The program's name and its arguments. The prompt is not among them: all agents here read it on
  /// stdin, where no length, leading dash or word of it can be taken for anything else.
  public var arguments: [[UInt8]]
  /// The agent session's id where it is chosen before the start, else nil: an event tells it.
  public var session: String?
}

/// The agents that Pocket knows.
public enum AgentCatalog {
  /// All of them, in the order in which they are listed.
  public static let all: [any Agent] = [Claude(), Codex()]

  /// The agent of this name, or nil.
  public static func agent(named name: String) -> (any Agent)? { all.first { $0.name == name } }
}
