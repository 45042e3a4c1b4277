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
    /// It is there and not whole, which only a damaged disk can have done.
    case damaged
  }
  /// A recorded fact compared with the host as it is now.
  public enum Match: String, Sendable { case same, other, unknown }
  /// What became of a recorded process. A zombie is not alive.
  public enum Presence: String, Sendable { case alive, zombie, gone, stranger, unknown }
  /// Whether the job directory's file system has room.
  public enum Disk: String, Sendable { case full, free, unknown }
  /// What the kernel says of a want of memory.
  public enum Memory: String, Sendable {
    /// Its log names the leader or the supervisor as killed.
    case killed
    /// It has killed a process of the leader's control group since the start.
    case counted
    case none, unknown
  }
  /// Whether logind has ended the login session that the job was in.
  public enum Logout: String, Sendable { case killed, none, unknown }

  /// Whether the job directory is there.
  public var directory: Directory
  /// What the `started` link holds.
  public var start: Start
  /// Whether this is the machine on which the job was started.
  public var machine: Match
  /// The host name that was recorded at the start.
  public var hostName: String?
  /// Whether the machine has run without a restart since the job started.
  public var boot: Match
  /// Whether PID 1 is the one that it was when the job started: a container's is not after a restart.
  public var firstProcess: Match
  /// The job's first process.
  public var leader: Presence
  /// The process that waits for the leader.
  public var supervisor: Presence
  /// Living members of the job's process group; nil when they were not counted.
  public var groupMembers: Int?
  /// Whether a cancel was linked.
  public var cancelRequested: Bool
  /// For how many seconds neither stream has grown, by the host's clock; nil when that is not known,
  /// and after the end.
  public var quietSeconds: Int64?
  /// Asked only when leader and supervisor are gone without a record, as what follows.
  public var disk: Disk
  /// What the kernel says of a want of memory.
  public var memory: Memory
  /// Whether logind has ended the login session that the job was in.
  public var logout: Logout
  /// The exit record, if there is a whole one.
  public var exit: ExitRecord?

  /// Evidence of a job that nothing is known of: nothing started, nothing found.
  public init(
    directory: Directory, start: Start = .none, machine: Match = .unknown, hostName: String? = nil,
    boot: Match = .unknown, firstProcess: Match = .unknown, leader: Presence = .unknown,
    supervisor: Presence = .unknown, groupMembers: Int? = nil, cancelRequested: Bool = false,
    quietSeconds: Int64? = nil, disk: Disk = .unknown, memory: Memory = .unknown,
    logout: Logout = .unknown, exit: ExitRecord? = nil
  ) {
    self.directory = directory
    self.start = start
    self.machine = machine
    self.hostName = hostName
    self.boot = boot
    self.firstProcess = firstProcess
    self.leader = leader
    self.supervisor = supervisor
    self.groupMembers = groupMembers
    self.cancelRequested = cancelRequested
    self.quietSeconds = quietSeconds
    self.disk = disk
    self.memory = memory
    self.logout = logout
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
