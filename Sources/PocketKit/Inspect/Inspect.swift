import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// What one look at a job on its host found.
public struct Inspection: Sendable {
  /// The facts.
  public var evidence: Evidence
  /// What the job's state is by this evidence.
  public var state: JobState
  /// Sizes of the host's files, in bytes.
  public var sizes: [JobStream: ByteOffset]
  /// SHA-256 of the files' first bytes, as many as were asked for; nil where the host has no
  /// program for it.
  public var digests: [JobStream: String]
  /// Living remains of a job that has ended.
  public var leftovers: [HostProcess]
}

extension JobClient {
  /// Looks at the job on its host, changes nothing there, and writes down what it found. A host
  /// that cannot be asked makes the state `.unreachable`, and nothing else.
  ///
  /// - Parameter digesting: for which streams the SHA-256 of how many first bytes is wanted.
  public func inspect(
    _ id: JobID, digesting: [JobStream: ByteOffset] = [:]
  ) async throws(JobError) -> Inspection {
    try await wrapped {
      let job = try await store.knownJob(id)
      do {
        return try await look(at: job, digesting: digesting)
      } catch let error as JobError {
        try await noteUnreachable(job, error)
        throw error
      }
    }
  }

  /// Writes down that the host could not be asked, if that is what the error says.
  func noteUnreachable(_ job: Job, _ error: JobError) async throws {
    guard case .host = error, !job.state.isEnded else { return }
    if case .unreachable = job.state { return }
    try await store.record(
      .unreachable(since: JobStore.now(), lastKnown: job.state.known), for: job.id)
  }

  /// How many bytes a file has beyond its size in the exit record.
  private static func late(
    _ stream: JobStream, _ sizes: [JobStream: ByteOffset], _ record: ExitRecord
  ) -> Int64 {
    max(0, (sizes[stream]?.rawValue ?? 0) - record.size(of: stream).rawValue)
  }

  private func look(
    at job: Job, digesting: [JobStream: ByteOffset]
  ) async throws -> Inspection {
    func wish(_ stream: JobStream) -> String { digesting[stream]?.description ?? "-" }
    let link = try await hosts.link(to: job.host)
    var exchange = try await link.open(
      RemoteScript(
        .inspect,
        [("id", job.id.description), ("out_bytes", wish(.out)), ("err_bytes", wish(.err))]))
    if !digesting.isEmpty { exchange.limit = Exchange.digestLimit }
    return try await link.finishing(exchange.process) {
      var collector = EvidenceCollector()
      var sizes: [JobStream: ByteOffset] = [:]
      var digests: [JobStream: String] = [:]
      var leftovers: [HostProcess] = []
      while let reply = try await exchange.next() {
        collector.note(reply)
        switch reply {
        case .size(let stream, let bytes, _): sizes[stream] = bytes
        case .digest(let stream, _, let sha256): digests[stream] = sha256
        case .leftover(let pids): leftovers = collector.named(pids)
        default: break
        }
      }
      guard let evidence = collector.evidence else {
        throw JobError.protocolBroken(host: job.host, "The question was not answered.")
      }
      let state = job.state.next(given: evidence)
      try await store.record(
        state, evidence: evidence, leftovers: leftovers, exit: evidence.exit, for: job.id)
      if let record = evidence.exit {
        try await store.setLateBytes(
          out: Self.late(.out, sizes, record), err: Self.late(.err, sizes, record), for: job.id)
      }
      return Inspection(
        evidence: evidence, state: state, sizes: sizes, digests: digests, leftovers: leftovers)
    }
  }
}
