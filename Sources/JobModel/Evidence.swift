/// What one look at a job on its host found: facts, not conclusions. `JobState.derived` concludes.
public struct Evidence: Hashable, Sendable {
  /// Whether the job directory is there.
  public enum Directory: String, Sendable { case present, absent, removed }
  /// What the `started` link holds.
  public enum Start: Hashable, Sendable {
    case none
    case claimed
    case cancelled
    /// The command will never run. The reason is nil as long as only the word `refused` was seen:
    /// it comes in a line of its own.
    case refused(RefusalReason?, words: String)
  }
  /// A recorded fact compared with the host as it is now.
  public enum Match: String, Sendable { case same, other, unknown }
  /// What became of a recorded process. A zombie is not alive.
  public enum Presence: String, Sendable { case alive, zombie, gone, stranger, unknown }

  /// Whether the job directory is there.
  public var directory: Directory
  /// What the `started` link holds.
  public var start: Start
  /// Whether this is the machine on which the job was started.
  public var machine: Match
  /// The host name that was recorded at the start.
  public var hostName: String?
  /// Whether the machine, and its PID 1, have run since the job started.
  public var boot: Match
  /// The job's first process.
  public var leader: Presence
  /// The process that waits for the leader.
  public var supervisor: Presence
  /// Living members of the job's process group; nil when they were not counted.
  public var groupMembers: Int?
  /// Whether a cancel was linked.
  public var cancelRequested: Bool
  /// The exit record, if there is a whole one.
  public var exit: ExitRecord?

  /// Evidence of a job that nothing is known of: nothing started, nothing found.
  public init(
    directory: Directory, start: Start = .none, machine: Match = .unknown, hostName: String? = nil,
    boot: Match = .unknown, leader: Presence = .unknown, supervisor: Presence = .unknown,
    groupMembers: Int? = nil, cancelRequested: Bool = false, exit: ExitRecord? = nil
  ) {
    self.directory = directory
    self.start = start
    self.machine = machine
    self.hostName = hostName
    self.boot = boot
    self.leader = leader
    self.supervisor = supervisor
    self.groupMembers = groupMembers
    self.cancelRequested = cancelRequested
    self.exit = exit
  }
}

/// Why a leader refused to run its command.
public enum RefusalReason: String, Sendable, Hashable {
  /// The working directory is not there or cannot be entered.
  case cwd
  /// No such program on PATH, or at the path given.
  case program
  /// The program is there and may not be executed.
  case permission
}
