import JobModel
import JobStore
import SSHClient

/// What a shell offers where a JOB or a HOST is wanted. A completion never complains: where nothing
/// can be read, nothing is offered.
extension CommandContext {
  func jobCandidates() async -> [CompletionAnswer.Candidate] {
    guard let jobs = try? await openStoreIfPresent()?.jobs() else { return [] }
    return jobs.prefix(50).map { job in
      CompletionAnswer.Candidate(
        word: job.name ?? job.id.description,
        note: "\(StateWords(job).short), \(job.host): \(job.title)")
    }
  }

  func hostCandidates() async -> [CompletionAnswer.Candidate] {
    var names: [String] = []
    let settings = try? settings()
    if let host = settings?.host { names.append(host) }
    if let jobs = try? await openStoreIfPresent()?.jobs() { names += jobs.map(\.host) }
    if let aliases = try? await HostAliases.read(configurationFile: settings?.sshConfig) {
      names += aliases
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
      .map { CompletionAnswer.Candidate(word: $0, note: "host") }
  }
}
