import JobModel

/// Puts the replies that make up one look together: `evidence`, `refused` and `exit` are lines of
/// their own.
struct EvidenceCollector {
  private(set) var evidence: Evidence?

  mutating func note(_ reply: Reply) {
    switch reply {
    case .evidence(let found): evidence = found
    case .refused(let reason, let words): evidence?.start = .refused(reason, words: words)
    case .exit(let record): evidence?.exit = record
    default: break
    }
  }
}
