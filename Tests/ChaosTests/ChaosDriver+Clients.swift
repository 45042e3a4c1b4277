import JobModel
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension ChaosDriver {
  /// Starts jobs until there are enough that have not ended.
  func startJobs() throws {
    var alive = jobs.indices.count { !hasEnded($0) }
    while alive < Self.jobsAtOnce, clients.count < Self.clientsAtOnce {
      try startJob()
      alive += 1
    }
  }

  /// Whether a job's command has ended, or will never run, or was never written down.
  private func hasEnded(_ job: Int) -> Bool {
    if jobs[job].isClosed { return true }
    guard let host = host(job), host.started != nil else { return false }
    return host.leader?.isAlive != true
  }

  /// Starts the next job of the workload.
  @discardableResult
  func startJob() throws -> Int {
    let job = jobs.count
    let plan = workload.plan(job, using: &random)
    jobs.append(Job(plan: plan))
    var words = ["run"]
    let detaches = Int.random(in: 0..<5, using: &random) < 3
    if detaches { words.append("-d") }
    if plan.isNamed { words += ["-n", plan.tag] }
    try start(words + ["--"] + plan.command, for: job, follows: !detaches)
    return job
  }

  /// Follows some of the jobs that nobody follows.
  func followJobs() throws {
    for job in jobs.indices where !jobs[job].isClosed && clients.count < Self.clientsAtOnce {
      let isFollowed = clients.contains { $0.job == job && $0.words[0] != "cancel" }
      if isFollowed || jobs[job].id == nil || Int.random(in: 0..<3, using: &random) == 0 {
        continue
      }
      try follow(job)
    }
  }

  func follow(_ job: Int) throws {
    guard let word = word(for: job) else { return }
    let verb = Int.random(in: 0..<6, using: &random) == 0 ? "wait" : "resume"
    try start([verb, word], for: job, follows: verb == "resume")
  }

  func cancel(_ job: Int) throws {
    guard let word = word(for: job) else { return }
    jobs[job].cancelAsked = true
    try start(["cancel", word], for: job, follows: false)
  }

  private func word(for job: Int) -> String? {
    guard let id = jobs[job].id else { return nil }
    return jobs[job].plan.isNamed && Bool.random(using: &random) ? jobs[job].plan.tag : "\(id)"
  }

  func start(_ words: [String], for job: Int, follows: Bool) throws {
    let command = try world.pocket(words).start()
    note("client \(command.pid): \(words.joined(separator: " ")) [\(jobs[job].plan.tag)]")
    clients.append(Client(command: command, words: words, job: job, follows: follows))
  }

  /// Learns the ids of new jobs from the store: who was to print them may be dead.
  func findJobs() throws {
    var ids: [Substring: JobID] = [:]
    for row in try reader.jobs() {
      let words = row.title.split(separator: " ")
      if words.count > 1 { ids[words[1]] = row.id }
    }
    for job in jobs.indices where jobs[job].id == nil && !jobs[job].isClosed {
      jobs[job].id = ids[jobs[job].plan.tag[...]]
      // Its client was gone before it had written the job down.
      if jobs[job].id == nil, !clients.contains(where: { $0.job == job }) {
        jobs[job].isClosed = true
        if world.starts(jobs[job].plan) > 0 { different(job, "started, and not in the store") }
      }
    }
  }

  /// Looks at the clients that have ended: what they printed, and what they ended with.
  func reapClients() throws {
    var ended: [(Client, CommandResult)] = []
    clients.removeAll { client in
      guard let result = client.command.result else { return false }
      ended.append((client, result))
      return true
    }
    try findJobs()
    for (client, result) in ended { try look(at: client, result) }
  }

  private func look(at client: Client, _ result: CommandResult) throws {
    let name = "client \(client.command.pid), \(client.words.prefix(3).joined(separator: " "))"
    note("\(name): \(result.end)")
    guard jobs[client.job].id != nil, let host = host(client.job) else { return }
    if client.follows {
      let file = (try? readFile(host.file(.out))) ?? []
      if !file.starts(with: result.output) {
        different(client.job, "\(name) printed what is not in the job file")
      }
      // Who was not killed has shown all there is.
      if let exit = host.exit, result.code == code(of: exit), !client.wasKilled,
        !client.wasInterrupted, result.output.count != exit.outSize.rawValue
      {
        different(client.job, "\(name) printed \(result.output.count) of \(exit.outSize) bytes")
      }
    }
    guard !client.wasKilled, let code = result.code else {
      // Whoever follows lets go in good order; the others are simply ended by Ctrl-C.
      if !client.wasKilled, !client.wasInterrupted || result.end != .signal(SIGINT) {
        different(client.job, "\(name) died: \(result.end)")
      }
      return
    }
    let allowed = try allowed(client, host)
    if !allowed.contains(code) {
      different(
        client.job,
        "\(name) ended with \(code), and not with one of "
          + "\(allowed.sorted()); it said: \(result.errorText.suffix(600))")
    }
    if client.words[0] == "cancel", code == 0, let exit = host.exit, exit.cancelRequested,
      let left = try carriers()[jobs[client.job].id!.description]
    {
      different(client.job, "cancel says that nothing is alive, and there is \(left)")
    }
  }

  private func code(of exit: ExitRecord) -> Int32 {
    if exit.cancelRequested { return 143 }
    switch exit.status {
    case .code(let code): return Int32(code)
    case .signal(let signal), .unknown(let signal): return Int32(128 + signal)
    }
  }

  private func state(of job: Int) throws -> JobState? {
    try reader.jobs().first { $0.id == jobs[job].id }?.state
  }

  /// What a client that was left alone may end with, by what the host has of its job by now. 255 is
  /// for a host that could not be reached.
  private func allowed(_ client: Client, _ host: HostJob) throws -> Set<Int32> {
    var allowed: Set<Int32> = [255]
    if client.wasInterrupted { allowed.insert(130) }
    switch client.words[0] {
    case "cancel": return [0, 75]
    case "run"
    where client.words.contains("-d") && !host.wasRefused
      && !host.wasCancelledBeforeTheStart:
      return allowed.union([0])
    default: break
    }
    if let exit = host.exit {
      allowed.insert(code(of: exit))
    } else if host.started == nil || host.wasCancelledBeforeTheStart {
      if host.started != nil { allowed.insert(143) }
      // Called off by the client that was to start it, before a byte of it had left. A cancel that
      // comes later makes sure of that on the host, and changes nothing here.
      if case .neverStarted(.notLaunched) = try state(of: client.job) { allowed.insert(125) }
    } else if host.wasRefused {
      allowed.insert(127)
    } else if let supervisor = host.supervisor, killed.contains(supervisor) {
      allowed.insert(125)
    }
    return allowed
  }
}
