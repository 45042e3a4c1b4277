import JobModel
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension ChaosDriver {
  /// Draws faults until one finds something to break.
  func applySomeFault() async throws {
    for _ in 0..<50 {
      let fault = Fault.random(using: &random)
      let isWhileRunning = !running.isEmpty
      guard let what = try await apply(fault) else { continue }
      note("FAULT \(fault.rawValue): \(what)")
      applied[fault, default: 0] += 1
      if isWhileRunning { whileRunning += 1 }
      return
    }
    note("no fault found anything to break")
  }

  /// Says what was broken, or nil when there was nothing of that kind.
  private func apply(_ fault: Fault) async throws -> String? {
    switch fault {
    case .breakLaunch: return try await breakLaunch()
    case .killClient, .stopClient, .interruptClient: return breakClient(fault)
    case .secondClient:
      guard clients.count < Self.clientsAtOnce,
        let job = clients.filter(\.follows).map(\.job).filter({ jobs[$0].id != nil })
          .randomElement(using: &random)
      else { return nil }
      try follow(job)
      return jobs[job].plan.tag
    case .cancel:
      guard
        let job = jobs.indices.filter({ !jobs[$0].isClosed && jobs[$0].id != nil })
          .randomElement(using: &random)
      else { return nil }
      try cancel(job)
      return jobs[job].plan.tag
    case .restartServer, .killServer, .cancelWhileAway: return try await breakServer(fault)
    case .killSession, .stopSession: return try breakSession(fault)
    case .killHostScript: return try killHostScript()
    case .killLeader, .stopLeader, .killSupervisor, .stopSupervisor, .killBoth:
      return try await breakJob(fault)
    case .resetLink, .finishLink, .cutSoon, .freezeLink, .dropOneWay, .slowLink, .refuseLinks:
      return breakLink(fault)
    }
  }

  /// Starts a job and breaks something while nobody can say yet whether it was started: the moments
  /// on which the rule for one start rests.
  private func breakLaunch() async throws -> String? {
    guard isListening, clients.count < Self.clientsAtOnce + 3 else { return nil }
    let job = try startJob()
    let moment = ["directory", "directory", "start", "any"].randomElement(using: &random)!
    if moment != "any" {
      try await wait(for: job, atMost: .seconds(3)) {
        moment == "start" ? $0.started != nil : fileExists($0.folder)
      }
    }
    if moment == "any" {
      try await Task.sleep(for: .milliseconds(Int.random(in: 50...800, using: &random)))
    }
    let what: String
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      // The job starts, and nobody hears of it.
      world.proxy.drop(.toClient)
      try await wait(for: job, atMost: .seconds(3)) { $0.started != nil }
      world.proxy.cutNow()
      what = "link"
    case 2:
      clients.last?.command.signal(SIGKILL)
      clients[clients.count - 1].wasKilled = true
      what = "client"
    case 3:
      what = try killHostScript(of: jobs[job].id) ?? "nothing"
    default:
      what = try killSession(of: jobs[job].id) ?? "nothing"
    }
    return "\(jobs[job].plan.tag), \(moment): \(what)"
  }

  private func wait(
    for job: Int, atMost limit: Duration, until isSo: (HostJob) -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if jobs[job].id == nil { try findJobs() }
      if let host = host(job), isSo(host) { return }
      try await Task.sleep(for: .milliseconds(3))
    }
  }

  /// Kills the sshd process behind which a script about this job runs.
  private func killSession(of id: JobID?) throws -> String? {
    let sessions = try Set(world.server.connections())
    for script in try hostScripts(of: id) {
      var ancestor: ProcessEntry? = script
      while let next = ancestor, !sessions.contains(next.pid) {
        ancestor = ProcessEntry(pid: next.parent)
      }
      guard let session = ancestor else { continue }
      kill(session.pid, SIGKILL)
      return "sshd \(session.pid)"
    }
    return nil
  }

  private func breakClient(_ fault: Fault) -> String? {
    let candidates = clients.indices.filter {
      clients[$0].command.isRunning && !clients[$0].wasKilled && !clients[$0].wasInterrupted
    }
    guard let index = candidates.randomElement(using: &random) else { return nil }
    let command = clients[index].command
    switch fault {
    case .stopClient:
      command.signal(SIGSTOP)
      later(Int.random(in: 100...3000, using: &random)) { _ in command.signal(SIGCONT) }
    case .interruptClient:
      clients[index].wasInterrupted = true
      command.signal(SIGINT)
    default:
      clients[index].wasKilled = true
      command.signal(SIGKILL)
    }
    return "client \(command.pid)"
  }

  private func breakServer(_ fault: Fault) async throws -> String? {
    guard isListening else { return nil }
    let sessions = fault == .restartServer ? [] : try world.server.connections()
    isListening = false
    try await world.server.stopListening()
    for pid in sessions { kill(pid, SIGKILL) }
    later(Int.random(in: 200...3000, using: &random)) { driver in
      try await driver.listenAgain()
    }
    guard fault == .cancelWhileAway, let job = running.randomElement(using: &random) else {
      return "\(sessions.count) sessions"
    }
    try cancel(job)
    return "\(sessions.count) sessions; cancels \(jobs[job].plan.tag)"
  }

  func listenAgain() async throws {
    try await world.server.startListening()
    isListening = true
  }

  private func breakSession(_ fault: Fault) throws -> String? {
    guard let pid = try world.server.connections().randomElement(using: &random) else { return nil }
    if fault == .killSession {
      kill(pid, SIGKILL)
    } else {
      pause(pid, atMost: 3000)
    }
    return "sshd \(pid)"
  }

  private func pause(_ pid: Int32, atMost milliseconds: Int) {
    guard let identity = ProcessIdentity(alive: pid) else { return }
    kill(pid, SIGSTOP)
    later(Int.random(in: 100...milliseconds, using: &random)) { _ in
      if identity.isAlive { kill(pid, SIGCONT) }
    }
  }

  /// Kills one of Pocket's own processes on the host: any part of launch, follow or cancel, and a
  /// supervisor or leader that has not claimed the start yet.
  private func killHostScript(of id: JobID? = nil) throws -> String? {
    guard let script = try hostScripts(of: id).randomElement(using: &random),
      let identity = ProcessIdentity(alive: script.pid)
    else { return nil }
    kill(script.pid, SIGKILL)
    killed.insert(identity)
    return "\(script.pid) \(script.arguments.suffix(3).map { $0.prefix(60) })"
  }

  /// Pocket's own processes on the host, or those whose arguments name this job.
  private func hostScripts(of id: JobID?) throws -> [ProcessEntry] {
    try ProcessEntry.carrying("HOME=\(world.home)").filter { entry in
      let arguments = entry.arguments
      if arguments.first == "sleep" || bystanders.isOne(entry.pid) { return false }
      if entry.environment.contains(where: { $0.hasPrefix("POCKET_JOB=") }) { return false }
      if let id, !arguments.contains(where: { $0.contains("\(id)") }) { return false }
      guard let place = arguments.firstIndex(of: "pocket-supervise") else { return true }
      return place + 1 < arguments.count && !fileExists("\(arguments[place + 1])/started")
    }
  }

  private func breakJob(_ fault: Fault) async throws -> String? {
    guard let job = running.randomElement(using: &random), let host = host(job),
      let leader = host.leader, let supervisor = host.supervisor
    else { return nil }
    switch fault {
    case .stopLeader: pause(leader.pid, atMost: 2000)
    case .stopSupervisor: pause(supervisor.pid, atMost: 2000)
    case .killLeader: try await killAndWait([leader])
    case .killSupervisor: try await killAndWait([supervisor])
    // The supervisor first: else it would record the leader's end.
    default: try await killAndWait([supervisor, leader])
    }
    return jobs[job].plan.tag
  }

  private func killAndWait(_ processes: [ProcessIdentity]) async throws {
    for process in processes where process.isAlive {
      kill(process.pid, SIGKILL)
      killed.insert(process)
      // What it could still do is done when it is gone.
      try await waitUntil("the end of \(process.pid)") { !process.isAlive }
    }
  }

  private func breakLink(_ fault: Fault) -> String? {
    let proxy = world.proxy
    let direction = FaultProxy.Direction.allCases.randomElement(using: &random)!
    switch fault {
    case .resetLink: proxy.cutNow(by: .reset)
    case .finishLink: proxy.cutNow(by: .finish)
    case .cutSoon:
      let bytes = Int.random(in: 0...20_000, using: &random)
      proxy.cut(direction, afterBytes: bytes)
      proxy.arm()
      return "\(direction) after \(bytes) bytes"
    case .freezeLink:
      let milliseconds = Int.random(in: 200...3000, using: &random)
      let newOnesToo = Bool.random(using: &random)
      proxy.freeze(newOnesToo: newOnesToo)
      later(milliseconds) { _ in proxy.thaw() }
      return "\(milliseconds) ms" + (newOnesToo ? ", new ones too" : "")
    case .dropOneWay:
      proxy.drop(direction)
      return "\(direction)"
    case .slowLink:
      let isThrottled = Bool.random(using: &random)
      if isThrottled {
        proxy.throttle(bytesPerSecond: Int.random(in: 20_000...200_000, using: &random))
      } else {
        proxy.delay(each: .milliseconds(Int.random(in: 20...300, using: &random)))
      }
      later(Int.random(in: 500...3000, using: &random)) { _ in
        proxy.throttle(bytesPerSecond: nil)
        proxy.delay(each: .zero)
      }
      return isThrottled ? "throttled" : "delayed"
    default:
      proxy.refuseConnections(true)
      later(Int.random(in: 200...3000, using: &random)) { _ in proxy.refuseConnections(false) }
      return "refused"
    }
    return "\(proxy.connectionCount) connections so far"
  }
}
