import JobModel

/// What the last look at a job found, as `--json` shows it: the words of the host's own answer
/// (docs/remote-protocol.md), and the exit record as it stands.
struct EvidenceRecord: Encodable, Sendable {
  private let evidence: Evidence
  private let exit: ExitRecord?

  init(_ evidence: Evidence, _ exit: ExitRecord?) { (self.evidence, self.exit) = (evidence, exit) }

  private enum Key: String, CodingKey {
    case directory, start, machine, host, boot, `init`, leader, supervisor, group, cancel, quiet
    case disk, oom, logout, exit
  }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(evidence.directory.rawValue, forKey: .directory)
    try object.encode(evidence.start.word, forKey: .start)
    try object.encode(evidence.machine.rawValue, forKey: .machine)
    try object.encode(evidence.hostName, forKey: .host)
    try object.encode(evidence.boot.rawValue, forKey: .boot)
    try object.encode(evidence.firstProcess.rawValue, forKey: .`init`)
    try object.encode(evidence.leader.rawValue, forKey: .leader)
    try object.encode(evidence.supervisor.rawValue, forKey: .supervisor)
    try object.encode(evidence.groupMembers, forKey: .group)
    try object.encode(evidence.cancelRequested, forKey: .cancel)
    try object.encode(evidence.quietSeconds, forKey: .quiet)
    try object.encode(evidence.disk.rawValue, forKey: .disk)
    try object.encode(evidence.memory.rawValue, forKey: .oom)
    try object.encode(evidence.logout.rawValue, forKey: .logout)
    try object.encode(exit?.description, forKey: .exit)
  }
}
