import JobModel
import JobStore
import RemoteScripts
import SSHClient

extension JobClient {
  /// Deletes a job that is over from its host and from the store. When the host cannot be reached,
  /// nothing is changed.
  ///
  /// - Throws: `JobError`; `.notOver` for a job that runs or whose output is not all in the store.
  public func remove(_ id: JobID) async throws(JobError) {
    try await wrapped {
      var job = try await store.knownJob(id)
      if !job.isRemovable {
        // What the store knows may be old.
        _ = try await inspect(id)
        job = try await store.knownJob(id)
      }
      guard job.isRemovable else { throw JobError.notOver(id, job.state) }
      let link = try await hosts.link(to: job.host)
      var exchange = try await link.open(RemoteScript(.remove, [("id", id.description)]))
      try await link.finishing(exchange.process) {
        let replies = try await exchange.rest()
        guard replies.contains(.removed) else {
          throw JobError.protocolBroken(host: job.host, "The removal was not answered.")
        }
      }
      try await store.remove(id)
    }
  }

  /// Deletes a job from the store only; the host keeps what it has.
  public func forget(_ id: JobID) async throws(JobError) {
    try await wrapped { try await store.remove(id) }
  }
}

extension Job {
  /// Whether nothing is lost by a removal: proved, never run, or never to be completed.
  var isRemovable: Bool {
    switch state.known {
    case .finished, .cancelled(.some): proved
    case .cancelled(nil), .neverStarted, .lost: true
    case .launching, .running, .elsewhere, .unreachable: false
    }
  }
}
