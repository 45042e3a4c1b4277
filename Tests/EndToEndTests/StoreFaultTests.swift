import JobModel
import JobStore
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What may happen to the client's own store: each is one clear error with 125, the store is left as
/// it is, and the job does not notice.
@Suite struct StoreFaultTests {
  /// The error's one line; anything else on stderr is a failure.
  private func oneLine(
    _ result: CommandResult, sourceLocation: SourceLocation = #_sourceLocation
  ) -> String {
    let lines = result.errorText.split(separator: "\n")
    #expect(
      result.end == .code(125) && lines.count == 1, "\(result.end): \(result.errorText)",
      sourceLocation: sourceLocation)
    return lines.first.map(String.init) ?? ""
  }

  /// Whether all that the host has of a job is in the store, byte for byte.
  private func isWhole(_ id: JobID, _ world: ProgramWorld) async throws -> Bool {
    try await world.pocket("verify", "\(id)").run().end == .code(0)
  }

  /// Another program that runs a statement, and then stays until its input ends.
  private func sql(
    _ statement: String, on database: String, input: Command.Input = .null
  ) -> Command {
    let program = """
      import sqlite3, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None)
      connection.execute(sys.argv[2]).fetchall()
      print("done", flush=True)
      sys.stdin.read()
      """
    return Command("python3", ["-c", program, database, statement], input: input)
  }

  // MARK: The disk

  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func onAFullDiskTheFollowEndsAndIsTakenUpWhenThereIsSpace() async throws {
    try await ProgramWorld.with { world in
      let store = try world.folder.folder("store")
      try await SmallDisk.with(bytes: 6 << 20, at: store) { disk in
        let go = "\(world.server.remoteHome)/go"
        let id = try await world.start(
          "seq 100000; until [ -e ~/go ]; do sleep 0.05; done; seq 100000; exit 3")
        let following = try world.pocket("resume", "\(id)").start()
        try await following.waitForOutput("the first half") { $0.count >= 588_895 }
        let filling = try await disk.fill()
        try writeFile(go, [])
        let full = try await following.exit()
        #expect(full.end == .code(125), "\(full.errorText)")
        #expect(full.errorText.contains("The disk is full. Free some space"))
        #expect(full.errorText.contains("pocket:   pocket resume \(id)\n"))
        // It can still be looked at, though not be followed.
        #expect(try await world.pocket("ls").run().end == .code(0))
        #expect(try await world.pocket("resume", "\(id)").run().end == .code(125))

        #expect(unlink(filling) == 0)
        let resumed = try await world.pocket("resume", "\(id)").run()
        #expect(resumed.end == .code(3), "\(resumed.errorText)")
        #expect(try world.isHostFile(resumed.output, of: id, .out))
        // Nothing was half-written: what had been stored is a prefix of whole lines.
        let isPrefix = resumed.output.starts(with: full.output) && full.output.last == 0x0A
        #expect(isPrefix)
        #expect(try await isWhole(id, world))
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func onADiskThatIsFullFromTheBeginningNoJobIsStarted() async throws {
    try await ProgramWorld.with { world in
      let store = try world.folder.folder("store")
      try await SmallDisk.with(bytes: 1 << 20, at: store) { disk in
        let filling = try await disk.fill()
        let line = oneLine(try await world.pocket("run", "--", "true").run())
        #expect(line.contains("Free some space"), "\(line)")
        #expect(!fileExists("\(world.server.remoteHome)/.pocket"))
        // What was begun of a store is made whole.
        #expect(unlink(filling) == 0)
        #expect(try await world.pocket("run", "--", "true").run().end == .code(0))
      }
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount a disk read-only"))
  func aStoreThatCannotBeWrittenToIsToldAndLeftAlone() async throws {
    try await ProgramWorld.with { world in
      let store = try world.folder.folder("store")
      try await SmallDisk.with(bytes: 8 << 20, at: store) { _ in
        let id = try await world.start("echo kept")
        _ = try await world.pocket("resume", "\(id)").succeed()
        try await Command("mount", ["-o", "remount,ro", store]).succeed()
        for command in [["ls"], ["resume", "\(id)"], ["run", "--", "true"]] {
          var pocket = world.pocket()
          pocket.arguments = command
          let line = oneLine(try await pocket.run())
          #expect(line.contains("Read-only file system. Check who may write there."), "\(line)")
        }
        try await Command("mount", ["-o", "remount,rw", store]).succeed()
        #expect(try await world.pocket("logs", "\(id)").succeed() == "kept")
      }
    }
  }

  // MARK: Others

  @Test(arguments: ["the lock", "a transaction"])
  func whileOthersKeepTheStoreBusyTheFollowWaitsAndGoesOn(_ what: String) async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start(
        "echo before; until [ -e ~/go ]; do sleep 0.05; done; seq 1000; exit 3")
      let following = try world.pocket("resume", "\(id)").start()
      try await following.waitForOutput("the first line") { $0 == Array("before\n".utf8) }
      // Another program, which holds on until its stdin ends.
      let database = world.folder["store/pocket.db"]
      let holder =
        what == "the lock"
        ? Command("flock", [database + "-lock", "sh", "-c", "echo held; cat"], input: .open)
        : sql("BEGIN IMMEDIATE", on: database, input: .open)
      let held = try holder.start()
      try await held.waitForOutput("the lock is held") { !$0.isEmpty }
      try writeFile("\(world.server.remoteHome)/go", [])
      // Longer than the store's own patience, so that it gives up once.
      try await Task.sleep(for: .seconds(14))
      held.closeInput()
      _ = try await held.exit()
      let result = try await following.exit()
      #expect(result.end == .code(3), "\(result.errorText)")
      #expect(
        result.errorText == """
          pocket: waiting for another program that keeps the store busy…
          pocket: the store can be written to again

          """)
      #expect(try world.isHostFile(result.output, of: id, .out))
      #expect(try await isWhole(id, world))
    }
  }

  @Test func aJobIsNotStartedWhileTheStoreIsBusyForTooLong() async throws {
    try await ProgramWorld.with { world in
      _ = try await world.start("true")
      let held = try Command(
        "flock",
        [world.folder["store/pocket.db-lock"], "sh", "-c", "echo held; cat"], input: .open
      ).start()
      try await held.waitForOutput("the lock is held") { !$0.isEmpty }
      let result = try await world.pocket("run", "--", "touch", "started").run()
      held.closeInput()
      _ = try await held.exit()
      #expect(result.end == .code(125))
      #expect(result.errorText.contains("look for a stopped pocket process"), "\(result.errorText)")
      let jobs = try await world.openStore().jobs()
      #expect(
        jobs.count == 1 && namesInFolder("\(world.server.remoteHome)/.pocket/jobs").count == 1)
    }
  }

  // MARK: The file

  /// What stands in the store's place, and the words by which the error knows it.
  enum Unusable: String, CaseIterable {
    case garbage = "file is not a database"
    case cut = "malformed"
    case newer = "was written by a newer Pocket (format 99"
    case foreign = "not one of Pocket's"
    case folder = "unable to open database file"
  }

  private func spoil(_ database: String, _ how: Unusable) async throws {
    if how != .cut, how != .newer {
      // The log first: it holds all pages, and would bring them back.
      try await Command("rm", [database, database + "-wal", database + "-shm"]).succeed()
    }
    switch how {
    case .garbage:
      try writeFile(database, Array(String(repeating: "no database\n", count: 500).utf8))
    case .cut:
      try await sql("PRAGMA wal_checkpoint(TRUNCATE)", on: database).succeed()
      #expect(truncate(database, 20_000) == 0)
    case .newer: try await sql("PRAGMA user_version = 99", on: database).succeed()
    case .foreign: try await sql("CREATE TABLE theirs (x)", on: database).succeed()
    case .folder: try await Command("mkdir", [database]).succeed()
    }
  }

  @Test(arguments: Unusable.allCases)
  func aStoreThatCannotBeUsedIsToldAndNeverReplaced(_ one: Unusable) async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start("echo kept")
      _ = try await world.pocket("resume", "\(id)").succeed()
      let database = world.folder["store/pocket.db"]
      try await spoil(database, one)
      let before = one == .folder ? [] : try readFile(database)
      for command in [["ls"], ["run", "--", "true"], ["resume", "@"], ["rm", "--local", "@"]] {
        var pocket = world.pocket()
        pocket.arguments = command
        let line = oneLine(try await pocket.run())
        #expect(line.contains(one.rawValue) && line.contains(database), "\(line)")
        if one != .folder { #expect(try readFile(database) == before, "\(command)") }
      }
      #expect(namesInFolder("\(world.server.remoteHome)/.pocket/jobs").count == 1)
    }
  }

  // MARK: The surroundings

  @Test func withoutAHomeThePlaceIsAskedFor() async throws {
    try await ProgramWorld.with { world in
      var list = world.pocket("ls")
      list.environment["POCKET_HOME"] = nil
      list.environment["HOME"] = nil
      let line = oneLine(try await list.run())
      #expect(line.contains("HOME is not set") && line.contains("Set POCKET_HOME."), "\(line)")
      // With a place for the store nothing else needs it.
      var run = world.pocket("run", "--", "echo", "fine")
      run.environment["HOME"] = nil
      let result = try await run.run()
      #expect(result.end == .code(0) && result.outputText == "fine\n", "\(result.errorText)")
    }
  }

  @Test(
    .enabled(if: system("command -v faketime >/dev/null") == 0, "faketime is not installed"),
    arguments: ["-3d", "+3d"])
  func aClockThatIsWrongDisturbsNoJob(_ shift: String) async throws {
    try await ProgramWorld.with { world in
      let id = try await world.start(
        "echo one; until [ -e ~/go ]; do sleep 0.05; done; echo two; exit 3")
      _ = try await world.pocket("ls").succeed()
      // Set wrong while the job runs, and right again later.
      let following = try world.pocket("resume", "\(id)").withClock(shifted: shift).start()
      try await following.waitForOutput("the first line") { $0 == Array("one\n".utf8) }
      try writeFile("\(world.server.remoteHome)/go", [])
      let result = try await following.exit()
      #expect(result.end == .code(3) && result.outputText == "one\ntwo\n", "\(result.errorText)")
      #expect(try await isWhole(id, world))
      #expect(try await world.pocket("ls").succeed().contains("finished, exit 3"))
    }
  }
}
