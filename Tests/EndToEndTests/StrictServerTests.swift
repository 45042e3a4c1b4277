import JobModel
import TestSupport
import Testing

/// A server that lets in few at a time: no client may take its refusals for more than that.
@Suite struct StrictServerTests {
  private static let jobs = 20

  private static var options: LoopbackServer.Options {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["MaxSessions 1", "MaxStartups 2:100:2"]
    return options
  }

  /// Each job has a client of its own, and all of them come at once.
  @Test func manyClientsAtOnceAllCompleteTheirJobs() async throws {
    try await ProgramWorld.with(Self.options) { world in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 1...Self.jobs {
          group.addTask {
            let result = try await world.pocket(
              "run", "--", "sh", "-c", "echo \(number); sleep 1; echo done; exit \(number)"
            ).run(deadline: .seconds(180))
            #expect(result.end == .code(Int32(number)), "\(result.errorText)")
            #expect(result.outputText == "\(number)\ndone\n")
          }
        }
        try await group.waitForAll()
      }
      expectNoFailedLogin(world)
    }
  }

  /// One client follows all: there are fewer channels than jobs.
  @Test func oneClientWaitsForManyJobs() async throws {
    try await ProgramWorld.with(Self.options) { world in
      var wait = world.pocket("wait")
      for number in 1...Self.jobs {
        let id = try await world.start("echo \(number); sleep 2; echo done")
        wait.arguments.append("\(id)")
      }
      let result = try await wait.run(deadline: .seconds(180))
      #expect(result.end == .code(0), "\(result.errorText)")
      for (index, id) in wait.arguments.dropFirst().enumerated() {
        #expect(try await world.pocket("logs", id).succeed() == "\(index + 1)\ndone")
        #expect(try await world.pocket("verify", id).run().end == .code(0))
      }
      expectNoFailedLogin(world)
    }
  }

  private func expectNoFailedLogin(
    _ world: ProgramWorld, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let log = world.server.log
    #expect(log.contains("Accepted publickey"), sourceLocation: sourceLocation)
    for words in ["Failed ", "maximum authentication attempts", "Invalid user"] {
      #expect(!log.contains(words), "\(log.suffix(2000))", sourceLocation: sourceLocation)
    }
  }
}
