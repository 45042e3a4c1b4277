import JobModel
import JobStore
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// `pocket cancel` as a user meets it: strangers, hosts that are away, and clients that are killed.
@Suite struct CancelTests {
  private func living(_ id: JobID) throws -> [ProcessEntry] {
    try ProcessEntry.carrying("POCKET_JOB=\(id)")
  }

  /// A line of `started` is replaced, or several.
  private func rewrite(_ id: JobID, _ changes: [String: String], in world: ProgramWorld) throws {
    let path = "\(world.server.remoteHome)/.pocket/jobs/\(id)/started"
    let lines = try readText(path).split(separator: "\n", omittingEmptySubsequences: false)
    let changed = lines.map { line -> String in
      let key = String(line.prefix { $0 != "=" })
      return changes[key].map { "\(key)=\($0)" } ?? String(line)
    }
    try writeFile(path, Array(changed.joined(separator: "\n").utf8))
  }

  /// Field 22 of /proc/PID/stat.
  private func birth(of pid: Int32) throws -> String {
    let fields = try readText("/proc/\(pid)/stat").split(separator: ")").last?
      .split(separator: " ")
    return try #require(fields?.dropFirst(19).first.map(String.init))
  }

  @Test func aStrangerIsNeverSignalled() async throws {
    try await ProgramWorld.with { world in
      // Leads its own group and session, as a daemon does, and carries no cookie.
      let stranger = try Command("setsid", ["-w", "sleep", "300"]).start()
      try await waitUntil("the sleep") {
        try ProcessEntry.all().contains {
          $0.parent == stranger.pid && $0.arguments == ["sleep", "300"]
        }
      }
      let sleep = try #require(
        ProcessEntry.all().first { $0.parent == stranger.pid && $0.arguments == ["sleep", "300"] })
      // A session's sshd, whose record would be true in every field.
      let session = try world.server.ssh("sleep 300").start()
      try await waitUntil("the session") { try !world.server.connections().isEmpty }
      let sshd = try #require(try world.server.connections().first)
      let forgeries: [[String: String]] = [
        ["pid": "\(sleep.pid)", "pgid": "\(sleep.pid)"],
        ["pid": "\(sleep.pid)", "pgid": "\(sleep.pid)", "birth": try birth(of: sleep.pid)],
        [
          "pid": "\(sleep.pid)", "pgid": "\(sleep.pid)", "birth": try birth(of: sleep.pid),
          "sid": "\(sleep.session)",
        ],
        ["pid": "1", "pgid": "1"], ["pid": "0", "pgid": "0"], ["pid": "", "pgid": ""],
        ["pid": "-1", "pgid": "-1"], ["pid": "\(sshd)", "pgid": "\(sshd)"],
        ["pid": "\(sshd)", "pgid": "\(sshd)", "sid": "\(sshd)", "birth": try birth(of: sshd)],
      ]
      for forged in forgeries {
        let id = try await world.start("exec sleep 300")
        try rewrite(id, forged, in: world)
        let result = try await world.pocket("cancel", "\(id)").run()
        #expect(result.end == .code(125), "\(forged): \(result.errorText)")
        #expect(result.errorText.contains("nothing was signalled, since"), "\(result.errorText)")
        #expect(ProcessEntry(pid: sleep.pid)?.isAlive == true, "\(forged)")
        #expect(session.isRunning && ProcessEntry(pid: sshd)?.isAlive == true, "\(forged)")
        #expect(try living(id).count == 1)
        #expect(try await world.openStore().intents(of: id).isEmpty)
      }
    }
  }

  /// Whatever reaches the host carries it out.
  @Test(arguments: [
    ["ls", "--refresh"], ["run", "--", "true"], ["resume", "other"], ["logs", "-f", "other"],
    ["adopt"], ["doctor", "dev1"],
  ])
  func aQueuedCancelIsCarriedOutByTheNextCommandThatReachesTheHost(_ words: [String]) async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("sleep 300 & setsid sleep 300 & wait")
      _ = try await world.pocket("run", "-d", "-n", "other", "--", "sleep", "1").succeed()
      try await waitUntil("three processes") { try living(id).count == 3 }
      try await world.server.stopListening()
      let queued = try await world.pocket("cancel", "\(id)").run()
      #expect(queued.end == .code(75), "\(queued.errorText)")
      #expect(queued.errorText.contains("queued"))
      #expect(try await world.pocket("ls").succeed().contains("cancel queued"))
      #expect(try living(id).count == 3)
      try await world.server.startListening()
      var next = world.pocket()
      next.arguments = words
      let result = try await next.run()
      // What doctor finds here is not the question.
      if words[0] != "doctor" { #expect(result.end == .code(0), "\(result.errorText)") }
      #expect(
        result.errorText.contains("was carried out: \(id): nothing of it is alive on dev1"),
        "\(result.errorText)")
      #expect(try living(id).isEmpty)
      #expect(try await world.openStore().intents().isEmpty)
      #expect(try await world.pocket("resume", "\(id)").run().end == .code(143))
    }
  }

  @Test func aClientThatIsKilledInTheMiddleLeavesTheWishToTheNextContact() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start(
        "trap 'if [ -e ~/may-end ]; then exit; fi' TERM; while :; do sleep 0.1; done")
      let client = try world.pocket("cancel", "--grace", "1h", "\(id)").start()
      let mark = "\(world.server.remoteHome)/.pocket/jobs/\(id)/cancel"
      try await waitUntil("the mark of the cancel") { fileExists(mark) }
      client.signal(SIGKILL)
      _ = try await client.exit()
      #expect(try await world.openStore().intents().map(\.job) == [id])
      #expect(try !living(id).isEmpty)
      try writeFile("\(world.server.remoteHome)/may-end", [])
      let result = try await world.pocket("ls", "--refresh").run()
      #expect(result.end == .code(0))
      #expect(result.errorText.contains("was carried out"), "\(result.errorText)")
      #expect(try living(id).isEmpty)
      #expect(try await world.openStore().intents().isEmpty)
      #expect(namesInFolder(world.folder["store"]).allSatisfy { !$0.contains("holder") })
    }
  }

  @Test func aCommandWaitsForWhatItHasBegunToCarryOutUnlessItIsInterrupted() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start(
        "trap 'if [ -e ~/may-end ]; then exit; fi' TERM; while :; do sleep 0.1; done")
      let wish = CancelWish(grace: 3600)
      try await world.openStore().addIntent(.cancel, for: id, wish: wish.description)
      let list = try world.pocket("ls", "--refresh").start()
      try await waitUntil("the word that something is carried out") {
        list.errorText.contains("pocket: carrying out the cancel of \(id) on dev1, queued ")
      }
      #expect(list.outputText.contains("\(id)") && list.isRunning)
      list.signal(SIGINT)
      #expect(try await list.exit().end == .signal(SIGINT))
      #expect(try await world.openStore().intents(of: id).count == 1)
      try writeFile("\(world.server.remoteHome)/may-end", [])
      let next = try await world.pocket("show", "--refresh", "\(id)").run()
      #expect(next.end == .code(0) && next.errorText.contains("was carried out"))
      #expect(try living(id).isEmpty)
    }
  }

  @Test func twoCancelsAtOnceBothSucceed() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("sleep 300 & setsid sleep 300 & wait")
      async let one = world.pocket("cancel", "\(id)").run()
      async let two = world.pocket("cancel", "\(id)").run()
      for result in [try await one, try await two] {
        #expect(result.end == .code(0), "\(result.errorText)")
      }
      #expect(try living(id).isEmpty)
      #expect(try await world.openStore().intents().isEmpty)
    }
  }

  @Test func theEndOfWhatIsLeftOfAProvedJobIsQueuedAsWell() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("setsid sleep 300 & exit 0")
      #expect(try await world.pocket("resume", "\(id)").run().end == .code(0))
      try await world.server.stopListening()
      #expect(try await world.pocket("cancel", "--left-over", "\(id)").run().end == .code(75))
      #expect(try living(id).count == 1)
      try await world.server.startListening()
      let result = try await world.pocket("ls", "--refresh", "--json").run()
      #expect(result.errorText.contains(#""leftovers":[],"survivors":[],"wasOver":true"#))
      #expect(try living(id).isEmpty)
      #expect(try await world.openStore().intents().isEmpty)
    }
  }

  /// The client of the launch has died before a byte left, or the host never answered it.
  @Test(arguments: [true, false])
  func aCancelBeforeTheStartWins(_ isHostThere: Bool) async throws {
    try await ProgramWorld.with { world in
      let shell = ["sh", "-c", "echo never >> ~/runs"].map { Array($0.utf8) }
      let job = Job(
        id: .random(), host: "dev1", request: JobRequest(arguments: shell),
        createdAt: JobStore.now())
      try await world.openStore().insert(job)
      if !isHostThere { try await world.server.stopListening() }
      let cancel = try await world.pocket("cancel", "\(job.id)").run()
      #expect(cancel.end == .code(isHostThere ? 0 : 75), "\(cancel.errorText)")
      if !isHostThere { try await world.server.startListening() }
      let resume = try await world.pocket("resume", "\(job.id)").run()
      #expect(resume.end == .code(143), "\(resume.errorText)")
      #expect(try await world.openStore().job(job.id)?.state == .cancelled(nil))
      #expect(try await world.openStore().intents().isEmpty)
      #expect(!fileExists("\(world.server.remoteHome)/runs"))
    }
  }

  @Test func whatIsOutsideTheGroupIsListedFirst() async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("setsid sleep 300 & wait")
      try await waitUntil("the sleep in a session of its own") {
        try living(id).contains { $0.arguments == ["sleep", "300"] && $0.pid == $0.session }
      }
      let sleep = try #require(try living(id).first { $0.pid == $0.session })
      let gentle = try await world.pocket("cancel", "--group-only", "\(id)").run()
      #expect(gentle.end == .code(0))
      #expect(
        gentle.errorText == """
          pocket: cancelling \(id) on dev1
          pocket: outside its group these carry its cookie and are left alone: \(sleep.pid) (sleep 300)
          pocket: \(id): its group is dead on dev1
          pocket: left alone: \(sleep.pid) (sleep 300); to end them: pocket cancel --left-over \(id)

          """)
      #expect(try living(id).map(\.pid) == [sleep.pid])
      let ended = try await world.pocket("cancel", "--left-over", "\(id)").run()
      #expect(ended.end == .code(0), "\(ended.errorText)")
      #expect(try living(id).isEmpty)
    }
  }
}
