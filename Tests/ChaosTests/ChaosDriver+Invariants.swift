import JobModel
import TestSupport

extension ChaosDriver {
  /// What must hold at every moment.
  func lookAround() throws {
    try findJobs()
    try compareOutput()
    try checkEdges()
    try checkCarriers()
    for job in jobs.indices where !jobs[job].isClosed && world.starts(jobs[job].plan) > 1 {
      different(job, "started \(world.starts(jobs[job].plan)) times")
    }
    let missing = bystanders.missing
    if !missing.isEmpty { different(nil, "bystanders that are gone: \(missing)") }
  }

  /// What is stored is the job file's beginning.
  private func compareOutput() throws {
    for job in jobs.indices where !jobs[job].isClosed {
      guard let id = jobs[job].id, let host = host(job) else { continue }
      for stream in JobStream.allCases {
        let from = jobs[job].compared[stream]!
        let new: [UInt8]
        do { new = try reader.output(of: id, stream, from: from) } catch {
          different(job, "\(error)")
          continue
        }
        guard !new.isEmpty else { continue }
        let file = (try? readFile(host.file(stream))) ?? []
        guard file.count >= from + new.count, Array(file[from..<(from + new.count)]) == new else {
          different(job, "\(stream): stored bytes \(from)..<\(from + new.count) are not the file's")
          continue
        }
        jobs[job].compared[stream] = from + new.count
      }
    }
  }

  /// Every change of a state that anybody wrote into the store is a legal one, and says no more than
  /// is true on the host.
  private func checkEdges() throws {
    for edge in try reader.edges(after: lastEdge) {
      lastEdge = edge.sequence
      note("\(edge.id): \(edge.from) -> \(edge.to)")
      let job = jobs.firstIndex { $0.id?.description == edge.id }
      guard let from = JobState(edge.from), let to = JobState(edge.to) else {
        different(job, "a state that cannot be read: \(edge.from) -> \(edge.to)")
        continue
      }
      if !from.canBecome(to) { different(job, "\(edge.from) became \(edge.to)") }
      if let job, let host = host(job) { check(to, host, job) }
    }
  }

  func check(_ state: JobState, _ host: HostJob, _ job: Int) {
    switch state {
    case .finished(let status):
      if host.exit?.status != status { different(job, "\(state), and the record: \(record(host))") }
    case .cancelled(let record?):
      if host.exit != record { different(job, "\(state), and the record: \(self.record(host))") }
    case .cancelled(nil):
      if !host.wasCancelledBeforeTheStart { different(job, "\(state), and it was started") }
    case .lost:
      if host.leader?.isAlive == true { different(job, "\(state), and its leader lives") }
      if let supervisor = host.supervisor, !killed.contains(supervisor) {
        different(job, "\(state), and nobody killed its supervisor")
      }
    case .neverStarted:
      if world.starts(jobs[job].plan) > 0 { different(job, "\(state), and it was started") }
    case .elsewhere: different(job, "\(state), on one machine")
    default: break
    }
  }

  func record(_ host: HostJob) -> String { host.exit.map(\.description) ?? "none" }

  /// The living processes of each job, by their cookies.
  func carriers() throws -> [String: [Int32]] {
    var carriers: [String: [Int32]] = [:]
    for entry in try ProcessEntry.all() where entry.isAlive && !bystanders.isOne(entry.pid) {
      for variable in entry.environment where variable.hasPrefix("POCKET_JOB=") {
        carriers[String(variable.dropFirst("POCKET_JOB=".count)), default: []].append(entry.pid)
      }
    }
    return carriers
  }

  /// Nothing is left of a job that got to its own end, or that was cancelled while all its processes
  /// were its own.
  private func checkCarriers() throws {
    let rows = try reader.jobs()
    let carriers = try carriers()
    for row in rows where row.proved {
      guard let left = carriers[row.id.description],
        let job = jobs.firstIndex(where: { $0.id == row.id }), let host = host(job)
      else { continue }
      let wasKilled = host.leader.map { killed.contains($0) } == true
      let isCancelling = clients.contains { $0.job == job && $0.words[0] == "cancel" }
      // A cancel that was cut off, or that came while the leader was being killed.
      if wasKilled || isCancelling || jobs[job].cancelAsked { continue }
      different(job, "\(row.state), and alive: \(left)")
    }
  }
}
