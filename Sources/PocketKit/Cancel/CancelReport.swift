import JobModel

/// What a cancel found and did.
public struct CancelReport: Sendable {
  /// The job's state afterwards.
  public var state: JobState
  /// Living processes that KILL did not end. Empty: the tree is proved dead.
  public var survivors: [HostProcess]
  /// Living processes that were left alone, since nobody asked for their end: the remains of a job
  /// that had ended before, or what carries the cookie beyond the group.
  public var leftovers: [HostProcess]
  /// Whether the job was over before this cancel came.
  public var wasOver: Bool
}

/// What a cancel is about to do.
public enum CancelProgress: Sendable {
  /// Another client carries this cancel out at the moment, and is waited for.
  case waiting
  /// Before the first signal: these carry the job's cookie and are not in its group.
  case beyond([HostProcess])
  /// What was just done, in a word for people.
  case step(String)
}
