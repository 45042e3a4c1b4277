/// A process on a host, as it is shown to a person.
public struct HostProcess: Sendable, Hashable {
  /// Its process id.
  public var pid: Int
  /// Its process group; nil when that is not known.
  public var group: Int?
  /// Its arguments, or its name, at most 200 characters. What a program chose to call itself: it may
  /// hold any character.
  public var command: String

  /// A process of these values.
  public init(pid: Int, group: Int? = nil, command: String = "") {
    self.pid = pid
    self.group = group
    self.command = command
  }
}

/// One line of the store: `<pid> <group or -> <command>`.
extension HostProcess: LosslessStringConvertible {
  /// The line. Line ends within the command become spaces.
  public var description: String {
    let line = command.utf8.map { $0 == 0x0A ? 0x20 : $0 }
    return "\(pid) \(group.map { String($0) } ?? "-") \(String(decoding: line, as: UTF8.self))"
  }

  /// Reads the line back; nil when it is none.
  public init?(_ description: String) {
    let (pid, rest) = JobState.firstWord(of: description[...])
    guard let pid = Int(pid), pid > 1, let rest else { return nil }
    let (group, command) = JobState.firstWord(of: rest)
    guard let command, group == "-" || Int(group) != nil else { return nil }
    self.init(pid: pid, group: Int(group), command: String(command))
  }
}
