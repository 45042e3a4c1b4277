/// The fields of an `evidence` line (docs/remote-protocol.md), which are kept in the store as they
/// stand. The exit record and a refusal's reason are lines of their own, and are not among them.
extension Evidence: LosslessStringConvertible {
  /// The fields, `key=value` with a space between two of them.
  public var description: String {
    let fields = [
      ("directory", directory.rawValue), ("start", start.word), ("machine", machine.rawValue),
      ("host", hostName ?? "-"), ("boot", boot.rawValue), ("init", firstProcess.rawValue),
      ("leader", leader.rawValue), ("supervisor", supervisor.rawValue),
      ("group", groupMembers.map { "\($0)" } ?? "unknown"),
      ("cancel", cancelRequested ? "yes" : "no"),
      ("quiet", quietSeconds.map { "\($0)" } ?? "unknown"), ("disk", disk.rawValue),
      ("oom", memory.rawValue), ("logout", logout.rawValue),
    ]
    return fields.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
  }

  /// Reads the fields; nil when they are none. A key that is missing is unknown, except for those
  /// that were there from the first.
  public init?(_ description: String) {
    var values: [Substring: String] = [:]
    for field in description.split(separator: " ", omittingEmptySubsequences: false) {
      let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { return nil }
      values[pair[0]] = String(pair[1])
    }
    func value<Value: RawRepresentable<String>>(_ key: Substring) -> Value? {
      values[key].flatMap { Value(rawValue: $0) }
    }
    guard let directory: Directory = value("directory"), let machine: Match = value("machine"),
      let boot: Match = value("boot"), let leader: Presence = value("leader"),
      let supervisor: Presence = value("supervisor"), let cancel = values["cancel"],
      ["yes", "no"].contains(cancel)
    else { return nil }
    let start: Start
    switch values["start"] {
    case "none": start = .none
    case "claimed": start = .claimed
    case "cancelled": start = .cancelled
    case "refused": start = .refused(nil, words: "")
    case "damaged": start = .damaged
    default: return nil
    }
    let group = values["group"].flatMap { Int($0) }
    let quiet = values["quiet"].flatMap { Int64($0) }
    if let group, group < 0 { return nil }
    if let quiet, quiet < 0 { return nil }
    self.init(
      directory: directory, start: start, machine: machine,
      hostName: values["host"].flatMap { $0 == "-" || $0.isEmpty ? nil : $0 }, boot: boot,
      firstProcess: value("init") ?? .unknown, leader: leader, supervisor: supervisor,
      groupMembers: group, cancelRequested: cancel == "yes", quietSeconds: quiet,
      disk: value("disk") ?? .unknown, memory: value("oom") ?? .unknown,
      logout: value("logout") ?? .unknown)
  }
}

extension Evidence.Start {
  /// The value of the key `start`.
  public var word: String {
    switch self {
    case .none: "none"
    case .claimed: "claimed"
    case .cancelled: "cancelled"
    case .refused: "refused"
    case .damaged: "damaged"
    }
  }
}
