import JobModel
import TestSupport

/// What did not hold, with all that is needed to look for the cause.
struct ChaosFailure: Error, CustomStringConvertible {
  let seed: UInt64
  let step: Int
  let differences: [String]
  let logs: String

  var description: String {
    "chaos with seed \(seed), step \(step):\n  " + differences.joined(separator: "\n  ")
      + "\n  logs: \(logs)"
  }
}

/// Starts jobs, breaks things, and after each step looks from outside at what must hold.
///
/// It knows what it did, and nothing of what Pocket thinks: what became of a job follows from the
/// job's directory and from what was done to its processes.
actor ChaosDriver {
  struct Job {
    let plan: JobPlan
    var id: JobID?
    /// A cancel was asked for, whatever became of that.
    var cancelAsked = false
    /// How much of each stream was compared with the job file.
    var compared: [JobStream: Int] = [.out: 0, .err: 0]
    /// It is over, and nothing of it can change any more.
    var isClosed = false
  }

  /// A running `pocket`.
  struct Client {
    let command: RunningCommand
    let words: [String]
    let job: Int
    let follows: Bool
    var wasKilled = false
    var wasInterrupted = false
  }

  /// Something that ends a fault.
  struct Remedy {
    let due: ContinuousClock.Instant
    let apply: @Sendable (ChaosDriver) async throws -> Void
  }

  let world: ChaosWorld
  let seed: UInt64
  let faults: Int
  let workload: Workload
  let reader: StoreReader
  let log: ChaosLog

  var random: SeededRandom
  var step = 0
  var jobs: [Job] = []
  var clients: [Client] = []
  var bystanders = Bystanders()
  var remedies: [Remedy] = []
  /// The processes of the host that were killed.
  var killed: Set<ProcessIdentity> = []
  var lastEdge: Int64 = 0
  var differences: [String] = []
  var applied: [Fault: Int] = [:]
  /// How many faults were applied while a job ran.
  var whileRunning = 0
  var isListening = true

  /// How many jobs are to be alive at once, and how many clients.
  static let jobsAtOnce = 8
  static let clientsAtOnce = 12

  init(_ world: ChaosWorld, seed: UInt64, faults: Int, workload: Workload) async throws {
    self.world = world
    self.seed = seed
    self.faults = faults
    self.workload = workload
    random = SeededRandom(seed: seed)
    reader = try await StoreReader.make(world.storePath)
    log = try ChaosLog(seed: seed)
  }

  func run() async throws {
    do {
      for number in 0..<4 { try bystanders.add(number) }
      try await warmUp()
      while step < faults {
        step += 1
        try await takeStep()
        try conclude()
      }
      try await end()
      try conclude()
    } catch let failure as ChaosFailure {
      throw failure
    } catch {
      differences.append("\(error)")
      try conclude()
    }
    log.note(summary)
  }

  /// What a whole run did, for people.
  var summary: String {
    let kinds = applied.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")
    return "\(step) faults, \(whileRunning) of them while a job ran; \(jobs.count) jobs: \(kinds)"
  }

  /// Nothing is broken until there is something to break.
  private func warmUp() async throws {
    try startJobs()
    try await waitUntil("running jobs", deadline: .seconds(60), every: .milliseconds(100)) {
      try reapClients()
      try startJobs()
      return running.count >= Self.jobsAtOnce / 2
    }
  }

  private func takeStep() async throws {
    try await applyRemedies()
    try reapClients()
    try findJobs()
    try startJobs()
    try followJobs()
    try await applySomeFault()
    if step % 50 == 0 { try bystanders.add(step) }
    try await Task.sleep(for: .milliseconds(Int.random(in: 50...500, using: &random)))
    try lookAround()
  }

  /// Throws when something did not hold.
  private func conclude() throws {
    guard !differences.isEmpty else { return }
    log.note("DIFFERENT: " + differences.joined(separator: "\n"))
    log.keep(world)
    throw ChaosFailure(seed: seed, step: step, differences: differences, logs: log.folder)
  }

  func different(_ job: Int?, _ what: String) {
    let name = job.map { "\(jobs[$0].plan.tag) (\(jobs[$0].id.map(\.description) ?? "no id")): " }
    differences.append((name ?? "") + what)
  }

  func note(_ text: String) { log.note("\(step) \(text)") }

  /// Applies what is due, or all there is.
  func applyRemedies(all: Bool = false) async throws {
    let now = ContinuousClock.now
    let due = remedies.filter { all || $0.due <= now }
    remedies.removeAll { all || $0.due <= now }
    for remedy in due { try await remedy.apply(self) }
  }

  func later(_ milliseconds: Int, _ apply: @escaping @Sendable (ChaosDriver) async throws -> Void) {
    remedies.append(Remedy(due: .now + .milliseconds(milliseconds), apply: apply))
  }

  func host(_ job: Int) -> HostJob? { jobs[job].id.map { HostJob($0, home: world.home) } }

  /// The jobs whose command runs now.
  var running: [Int] {
    jobs.indices.filter { !jobs[$0].isClosed && host($0)?.isRunning == true }
  }
}
