import JobModel
import JobStore

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
    let file = settings?.sshConfig ?? environment["HOME"].map { $0 + "/.ssh/config" }
    if let file, let bytes = try? FileBytes.ifPresent(file) { names += Self.hosts(inConfig: bytes) }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
      .map { CompletionAnswer.Candidate(word: $0, note: "host") }
  }

  /// The names in the `Host` lines of an ssh_config, patterns left out.
  static func hosts(inConfig bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0x0A).flatMap { line -> [String] in
      let words = line.split { [0x20, 0x09, 0x3D, 0x22, 0x0D].contains($0) }
        .map { String(decoding: $0, as: UTF8.self) }
      guard words.first?.lowercased() == "host" else { return [] }
      return words.dropFirst().filter { !$0.contains { "*?!".contains($0) } }
    }
  }
}
