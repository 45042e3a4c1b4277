/// What is known of a job (design.md, invariant 5). `finished` and `cancelled` mean that the host has
/// a record; whether all output is committed too, the store's `proved` says.
public enum JobState: Hashable, Sendable {
  /// A launch was made and no evidence of a start was seen yet.
  case launching
  case running
  /// The supervisor recorded how the command ended.
  case finished(ExitStatus)
  /// A cancel came before the end; with nil it came before the start, and the command never ran.
  case cancelled(ExitRecord?)
  /// It was started, and how it ended can no longer be found out.
  case lost(LostReason)
  /// The job directory is shared between machines and this is not the one that ran the job.
  case elsewhere(machine: String)
  /// The host could not be asked since then (seconds since 1970); before, the state was this.
  indirect case unreachable(since: Int64, lastKnown: JobState)
  /// The command did not run and never will.
  case neverStarted(NeverStartedReason)
}

/// Why the end of a started job cannot be found out.
public enum LostReason: String, Hashable, Sendable {
  /// The machine was started anew since.
  case rebooted
  /// The container was started anew since: its PID 1 is another one, on a machine that has run on.
  case containerRestarted
  /// Leader and supervisor are gone and left no exit record; nothing says why.
  case killed
  /// They are gone, and the kernel says that it killed for want of memory.
  case outOfMemory
  /// They are gone, and logind ends what a login session leaves behind.
  case loggedOut
  /// They are gone, and the job directory's disk is full.
  case diskFull
  /// What `started` held is damaged, so that nothing can be told of its processes.
  case startDamaged
  /// The job directory was removed by `rm`, here or on another device.
  case removed
  /// The job directory is not there any more.
  case directoryGone
  /// The command's end is recorded, but the host's file was cut short before it could be read.
  case outputCut
}

/// Why a command never ran.
public enum NeverStartedReason: Hashable, Sendable {
  /// The leader could not go on; the host's words. The reason is nil while it was not yet read.
  case refused(RefusalReason?, words: String)
  /// The job was removed before it started.
  case removed
  /// The launch was given up before the job directory existed, for this reason.
  case notLaunched(String)
}

extension JobState {
  /// What the evidence of one look says. What is unknown (hidepid) is not taken for a mismatch.
  public static func derived(from evidence: Evidence) -> JobState {
    if let record = evidence.exit {
      return record.cancelRequested ? .cancelled(record) : .finished(record.status)
    }
    if evidence.directory == .removed {
      return evidence.start == .none ? .neverStarted(.removed) : .lost(.removed)
    }
    switch evidence.start {
    case .refused(let reason, let words): return .neverStarted(.refused(reason, words: words))
    case .cancelled: return .cancelled(nil)
    case .none: return .launching
    case .damaged: return .lost(.startDamaged)
    case .claimed: break
    }
    if evidence.directory == .absent { return .launching }
    if evidence.machine == .other { return .elsewhere(machine: evidence.hostName ?? "?") }
    if evidence.boot == .other { return .lost(.rebooted) }
    if evidence.firstProcess == .other {
      // The boot is unknown on a BSD, which has no such containers.
      return .lost(evidence.boot == .same ? .containerRestarted : .rebooted)
    }
    switch (evidence.leader, evidence.supervisor) {
    case (.alive, _), (.unknown, _), (_, .alive), (_, .unknown): return .running
    // A stranger has taken the leader's pid, a zombie supervisor writes nothing more.
    default: return .lost(cause(in: evidence))
    }
  }

  /// Why leader and supervisor are gone, as far as the host tells: what is surer comes first.
  private static func cause(in evidence: Evidence) -> LostReason {
    if evidence.memory == .killed { return .outOfMemory }
    if evidence.logout == .killed { return .loggedOut }
    if evidence.memory == .counted { return .outOfMemory }
    if evidence.disk == .full { return .diskFull }
    return .killed
  }

  /// The state after one look: what the evidence says, as far as it can follow on what was known.
  /// A job that had started and is not there any more is lost, not launching.
  public func next(given evidence: Evidence) -> JobState {
    var next = JobState.derived(from: evidence)
    switch (known, next) {
    case (.launching, _), (_, .finished), (_, .cancelled): break
    case (_, .launching): next = .lost(.directoryGone)
    case (_, .neverStarted(.removed)): next = .lost(.removed)
    // What told of the cause goes: a log turns over, a disk gets room.
    case (.lost(.outOfMemory), .lost(.killed)), (.lost(.loggedOut), .lost(.killed)),
      (.lost(.diskFull), .lost(.killed)):
      next = known
    default: break
    }
    return canBecome(next) ? next : self
  }

  /// Whether `next` may follow. An end that the host recorded stays; nothing goes back to launching;
  /// what has run cannot turn out never to have started.
  public func canBecome(_ next: JobState) -> Bool {
    if case .unreachable(_, let lastKnown) = next { return lastKnown == known }
    switch known {
    case .launching: return true
    case .neverStarted(.refused(nil, _)):
      if case .neverStarted(.refused) = next { return true }
      return next == known
    case .finished, .cancelled, .neverStarted: return next == known
    case .running, .lost, .elsewhere, .unreachable:
      switch next {
      case .launching, .neverStarted, .cancelled(nil): return false
      default: return true
      }
    }
  }

  /// The state without the remark that the host cannot be asked at the moment.
  public var known: JobState {
    if case .unreachable(_, let lastKnown) = self { return lastKnown.known }
    return self
  }

  /// Whether the job has ended or never ran, as far as is known; nothing more will come then.
  public var isEnded: Bool {
    switch known {
    case .finished, .cancelled, .lost, .neverStarted: true
    case .launching, .running, .elsewhere, .unreachable: false
    }
  }
}
