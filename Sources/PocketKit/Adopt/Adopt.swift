import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// What became of taking a job over.
public enum Adoption: Sendable {
  /// It is in the store now. Its own name was left out when another job has it here.
  case adopted(Job, nameTaken: String?)
  /// It was in the store already.
  case known(Job)
}

extension JobClient {
  /// Takes a job over that another device started on `host`: it is written to the store, and from
  /// then on it is a job like any other, of which nothing was read yet. Nothing changes on the host.
  /// To take it over twice is no error.
  ///
  /// - Throws: `JobError`; `.notAdoptable` for a directory that is no whole job.
  public func adopt(_ id: JobID, from host: String) async throws(JobError) -> Adoption {
    try await wrapped {
      if let job = try await store.job(id) { return .known(job) }
      let link = try await hosts.link(to: host)
      var exchange = try await link.open(RemoteScript(.adopt, [("id", id.description)]))
      let (reading, start) = try await link.finishing(exchange.process) {
        var reading = DirectoryReading(id: id)
        var start: (attempt: String, pid: Int, pgid: Int)?
        while let reply = try await exchange.next() {
          if case .started(_, let pid, let pgid, let attempt) = reply {
            start = (attempt, pid, pgid)
          } else {
            reading.note(reply)
          }
        }
        return (reading, start)
      }
      switch reading.read() {
      case .failure(let fault):
        throw JobError.notAdoptable(id, host: host, fault.reason)
      case .success(let (file, evidence)):
        guard reading.hasWholePrompt, file.request.digest == file.digest else {
          throw JobError.notAdoptable(id, host: host, .digest)
        }
        var job = Job(id: id, host: host, request: file.request, createdAt: file.created)
        job.state = .derived(from: evidence)
        job.stateAt = JobStore.now()
        job.exit = evidence.exit
        (job.attempt, job.pid, job.pgid) = (start?.attempt, start?.pid, start?.pgid)
        return try await store.adopt(job)
      }
    }
  }
}

extension JobStore {
  /// Stores the job; without its name when another has it.
  fileprivate func adopt(_ job: Job) throws(StoreError) -> Adoption {
    var job = job
    var taken: String?
    while true {
      do throws(StoreError) {
        try insert(job)
        return .adopted(try knownJob(job.id), nameTaken: taken)
      } catch {
        switch error {
        case .nameTaken(let name, _): (taken, job.request.name) = (name, nil)
        case .idTaken(let id): return .known(try knownJob(id))
        default: throw error
        }
      }
    }
  }
}
