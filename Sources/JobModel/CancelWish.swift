/// How a job is to be cancelled. The values are the words of the script's arguments and of the store.
public struct CancelWish: Sendable, Hashable {
  /// Which processes beyond the job's group are ended.
  public enum Reach: String, Sendable {
    /// All that carry the job's cookie.
    case all
    /// None: they are listed and left alone.
    case group
  }

  /// What is done about the living remains of a job that has ended: it may have started something
  /// that is to stay, such as the user's tmux server.
  public enum Leftovers: String, Sendable { case list, end }

  /// The seconds that a job may be given.
  public static let possibleGrace = 0...3600

  /// How long the job has between TERM and KILL, in seconds.
  public var grace: Int
  /// Which processes beyond the job's group are ended.
  public var reach: Reach
  /// What is done about what a job that has ended left running.
  public var leftovers: Leftovers

  /// A wish; `grace` is in seconds, within `possibleGrace`.
  public init(grace: Int = 5, reach: Reach = .all, leftovers: Leftovers = .list) {
    self.grace = grace
    self.reach = reach
    self.leftovers = leftovers
  }
}

/// One line of the store, `grace=5 reach=all leftovers=list`: keys are only ever added.
extension CancelWish: LosslessStringConvertible {
  /// The line.
  public var description: String {
    "grace=\(grace) reach=\(reach.rawValue) leftovers=\(leftovers.rawValue)"
  }

  /// Reads the line back; what is not there has its usual value. Nil when it is no such line.
  public init?(_ description: String) {
    self.init()
    for field in description.split(separator: " ") {
      let parts = field.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      let value = String(parts[1])
      switch parts[0] {
      case "grace":
        guard let grace = Int(value), Self.possibleGrace.contains(grace) else { return nil }
        self.grace = grace
      case "reach":
        guard let reach = Reach(rawValue: value) else { return nil }
        self.reach = reach
      case "leftovers":
        guard let leftovers = Leftovers(rawValue: value) else { return nil }
        self.leftovers = leftovers
      default: return nil
      }
    }
  }
}
