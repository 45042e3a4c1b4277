import JobModel

/// Puts the replies that make up one look together: `evidence`, `refused` and `exit` are lines of
/// their own, and processes are described before they are listed.
struct EvidenceCollector {
  private(set) var evidence: Evidence?
  private var processes: [Int: HostProcess] = [:]

  mutating func note(_ reply: Reply) {
    switch reply {
    case .evidence(let found): evidence = found
    case .refused(let reason, let words): evidence?.start = .refused(reason, words: words)
    case .exit(let record): evidence?.exit = record
    case .process(let process): processes[process.pid] = process
    default: break
    }
  }

  /// The processes of a list. One that ended before it could be described has its pid only.
  func named(_ pids: [Int]) -> [HostProcess] {
    pids.map { processes[$0] ?? HostProcess(pid: $0) }
  }
}
