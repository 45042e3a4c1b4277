import JobModel
import JobStore
import PocketKit
import SSHClient
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What becomes of a job, and what is said of it then.
@Suite struct StatesTests {
  @Test func supervisorAndGroupKilledIsLostWithoutARecord() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("echo one; sleep 1000 & sleep 1000"))
      try await waitUntil("the first line") { try !world.hostFile(job.id, .out).isEmpty }
      let process = try world.startedProcess(job.id)
      process.killAll()
      let (state, _) = try await client.followToEnd(job.id)
      // The kernel's log may tell of another process with this pid, but of none since it was born.
      #expect(state == .lost(.killed))
      expectSame(try await world.stored(job.id, .out), Array("one\n".utf8), "out")
      let stored = try #require(try await world.store.job(job.id))
      #expect(stored.state == state && !stored.proved)
      #expect(stored.evidence?.supervisor == .gone && stored.evidence?.exit == nil)
    }
  }

  @Test func aStoppedServerIsUnreachableAndTheJobRunsAgainWhenItIsBack() async throws {
    try await World.with { world in
      let job = try await world.client().start(.shell("echo one; sleep 1000"))
      _ = try await world.client().inspect(job.id)
      let before = try #require(try await world.store.job(job.id))
      #expect(before.state == .running && before.evidence?.leader == .alive)
      try await world.server.stopListening()
      for _ in 1...2 {
        await #expect(throws: JobError.self) { try await world.client().inspect(job.id) }
      }
      let away = try #require(try await world.store.job(job.id))
      guard case .unreachable(let since, lastKnown: .running) = away.state else {
        Issue.record("it is \(away.state)")
        return
      }
      #expect(since == away.stateAt && away.evidence == before.evidence)
      #expect(away.evidenceAt == before.evidenceAt)
      try await world.server.startListening()
      #expect(try await world.client().inspect(job.id).state == .running)
      #expect(try await world.store.job(job.id)?.state == .running)
    }
  }

  @Test func aFollowerThatCannotReconnectSaysSo() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("echo one; sleep 1000"))
      let following = Task { for try await _ in client.follow(job.id) {} }
      defer { following.cancel() }
      try await waitUntil("the first line") { try await !world.stored(job.id, .out).isEmpty }
      let connections = try world.server.connections()
      try await world.server.stopListening()
      for connection in connections where connection > 1 { kill(connection, SIGKILL) }
      try await waitUntil("unreachable") {
        if case .unreachable = try await world.store.job(job.id)?.state { true } else { false }
      }
      try await world.server.startListening()
      try await waitUntil("running") { try await world.store.job(job.id)?.state == .running }
    }
  }

  @Test func aJobOfAnotherMachineIsElsewhereAndIsNotSignalled() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 1000"))
      let process = try world.startedProcess(job.id)
      try world.rewriteStarted(job.id) { key, value in
        switch key {
        case "machine": "0123456789abcdef0123456789abcdef"
        case "host": "node7"
        default: value
        }
      }
      let inspection = try await client.inspect(job.id)
      #expect(inspection.state == .elsewhere(machine: "node7"))
      #expect(inspection.evidence.leader == .unknown)
      #expect(try await client.followToEnd(job.id).state == .elsewhere(machine: "node7"))
      #expect(ProcessEntry(pid: process.leader)?.isAlive == true)
    }
  }

  @Test func aDamagedStartIsLostAndEndsAFollow() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("sleep 1000"))
      let started = world.jobFolder(job.id) + "/started"
      try writeFile(started, [UInt8](repeating: 0, count: 300))
      #expect(try await client.followToEnd(job.id).state == .lost(.startDamaged))
    }
  }

  @Test func silenceIsKnownFromTheHostsOwnClock() async throws {
    try await World.with { world in
      let client = world.client()
      let job = try await client.start(.shell("echo one; sleep 1000"))
      try await waitUntil("the first line") { try !world.hostFile(job.id, .out).isEmpty }
      for name in ["out.jsonl", "err.log"] {
        let file = world.jobFolder(job.id) + "/" + name
        try await Command("touch", ["-d", "100 seconds ago", file]).succeed()
      }
      _ = try await client.inspect(job.id)
      let stored = try #require(try await world.store.job(job.id))
      let silence = try #require(stored.evidenceAt) - (try #require(stored.outputAt))
      #expect((100...160).contains(silence), "\(silence) s")
    }
  }
}

@Suite(
  .enabled(if: Namespaces.arePossible, "needs root on Linux, to give sshd a machine of its own"))
struct OtherMachineTests {
  @Test func anotherBootIsLostWithItsOutput() async throws {
    let boot = try FakeBootID("11111111-2222-4333-8444-555555555555")
    var options = LoopbackServer.Options()
    options.launcher = boot.launcher
    try await World.with(options) { world in
      let client = world.client()
      let job = try await client.start(.shell("echo one; sleep 1000"))
      try await waitUntil("the first line") { try !world.hostFile(job.id, .out).isEmpty }
      try boot.set("66666666-7777-4888-8999-aaaaaaaaaaaa")
      let (state, _) = try await client.followToEnd(job.id)
      #expect(state == .lost(.rebooted))
      expectSame(try await world.stored(job.id, .out), Array("one\n".utf8), "out")
      let evidence = try #require(try await world.store.job(job.id)?.evidence)
      #expect(evidence.boot == .other && evidence.leader == .gone)
    }
  }

  @Test(arguments: FirstProcess.allCases)
  func anotherFirstProcessIsARestartedContainer(_ first: FirstProcess) async throws {
    var options = LoopbackServer.Options()
    options.launcher = first.launcher
    try await World.with(options) { world in
      let job = try await world.client().start(.shell("echo one; sleep 1000"))
      try await waitUntil("the first line") { try !world.hostFile(job.id, .out).isEmpty }
      // The container ends with all that is in it.
      try await world.server.stopListening()
      try await world.server.startListening()
      let client = world.client()
      #expect(try await client.followToEnd(job.id).state == .lost(.containerRestarted))
      expectSame(try await world.stored(job.id, .out), Array("one\n".utf8), "out")
    }
  }
}

@Suite(.enabled(if: geteuid() == 0, "only root can mount a disk"))
struct FullDiskTests {
  @Test func theExitCodeOfAJobThatFilledItsDiskIsStillKnown() async throws {
    try await World.with { world in
      let folder = "\(world.server.remoteHome)/.pocket"
      try #require(mkdir(folder, 0o700) == 0)
      try await SmallDisk.with(bytes: 4 << 20, at: folder) { _ in
        let client = world.client()
        let job = try await client.start(.shell("cat /dev/zero; exit 5"))
        #expect(try await client.followToEnd(job.id).state == .finished(.code(5)))
        let stored = try #require(try await world.store.job(job.id))
        #expect(stored.proved && stored.exit?.diskWasFull == true)
      }
    }
  }
}

/// Who runs a job, by its `started` file.
struct StartedProcess {
  let leader: Int32
  let supervisor: Int32

  /// Ends supervisor and group, so that nobody writes an exit record.
  func killAll() {
    kill(supervisor, SIGSTOP)
    kill(-leader, SIGKILL)
    kill(supervisor, SIGKILL)
  }
}

extension World {
  /// - Throws: for numbers with which a signal would reach others.
  func startedProcess(_ id: JobID) throws -> StartedProcess {
    var numbers: [String: Int32] = [:]
    for line in try readText(jobFolder(id) + "/started").split(separator: "\n") {
      let pair = line.split(separator: "=", maxSplits: 1)
      if pair.count == 2, let number = Int32(pair[1]), number > 1 {
        numbers[String(pair[0])] = number
      }
    }
    let leader = try #require(numbers["pid"])
    try #require(numbers["pgid"] == leader)
    return StartedProcess(leader: leader, supervisor: try #require(numbers["supervisor"]))
  }

  func rewriteStarted(_ id: JobID, _ change: (_ key: String, _ value: String) -> String) throws {
    let path = jobFolder(id) + "/started"
    let lines = try readText(path).split(separator: "\n").map { line in
      let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return "\(pair[0])=\(change(String(pair[0]), String(pair[1])))\n"
    }
    try writeFile(path, Array(lines.joined().utf8))
  }
}
