import JobModel
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Processes of the same user that are no part of any job: whatever is done about jobs, they live on.
/// They end with this object.
struct Bystanders {
  private var all: [(identity: ProcessIdentity, command: RunningCommand)] = []

  /// Adds one. Among jobs that are being started its number is close to theirs.
  mutating func add(_ number: Int) throws {
    // Each leads a group of its own, and every third carries the cookie of another job.
    var command = Command("sleep", ["86400"])
    if number % 3 == 0 { command.environment["POCKET_JOB"] = "\(JobID.random())" }
    let running = try command.start()
    guard let identity = ProcessIdentity(alive: running.pid) else { throw SystemError("sleep") }
    all.append((identity, running))
  }

  /// Those that are not alive any more, or are another process by now.
  var missing: [Int32] { all.filter { !$0.identity.isAlive }.map(\.identity.pid) }
  var count: Int { all.count }

  func isOne(_ pid: Int32) -> Bool { all.contains { $0.identity.pid == pid } }
}
