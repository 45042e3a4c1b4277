import JobModel
import TestSupport
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a script sees of `pocket doctor`.
@Suite struct DoctorCommandTests {
  private struct Line: Decodable {
    let host: String?
    let subject: String
    let verdict: String
    let what: String
    let remedy: String?
  }

  private func lines(_ result: CommandResult) throws -> [Line] {
    try result.outputText.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  @Test func aHealthyHostGivesExitCodeZeroAndOneObjectALine() async throws {
    try await ProgramWorld.with { world in
      let result = try await world.pocket("doctor", "dev1", "--json").run()
      let lines = try lines(result)
      let failures = lines.filter { $0.verdict == "failure" }
      #expect(result.end == .code(0), "\(failures) \(result.errorText)")
      #expect(Set(lines.map(\.verdict)).isSubset(of: ["ok", "warning"]))
      #expect(lines.first { $0.subject == "store" }?.host == nil)
      for subject in ["host key", "login", "bash", "PATH", "disk", "clock", "channels"] {
        #expect(lines.contains { $0.subject == subject && $0.host == "dev1" }, "\(subject)")
      }
      // It makes neither a store nor anything on the host.
      #expect(!fileExists(world.folder["store"]))
      #expect(!fileExists("\(world.server.remoteHome)/.pocket"))
    }
  }

  @Test func withoutAHostOnlyThisMachineIsLookedAt() async throws {
    try await ProgramWorld.with { world in
      let result = try await world.pocket("doctor").run()
      #expect(result.end == .code(0))
      #expect(result.outputText.hasPrefix("This machine\nok "))
      #expect(!result.outputText.contains("login shell"))
      #expect(result.errorText.hasPrefix("pocket: no failures"))
    }
  }

  @Test func aHostThatIsNotThereIsTheLastLineAndTheUsualCode() async throws {
    try await ProgramWorld.with { world in
      try await world.server.stopListening()
      let result = try await world.pocket("doctor", "dev1", "--json").run()
      #expect(result.end == .code(255))
      let lines = try lines(result)
      #expect(lines.last?.subject == "connection" && lines.last?.verdict == "failure")
      #expect(lines.contains { $0.subject == "SQLite" && $0.verdict == "ok" })
    }
  }

  @Test func aDamagedStoreIsAFailureAndTheHostIsExaminedAllTheSame() async throws {
    try await ProgramWorld.with { world in
      _ = try world.folder.folder("store")
      let garbage = Array(String(repeating: "no database\n", count: 500).utf8)
      try writeFile(world.folder["store/pocket.db"], garbage)
      let result = try await world.pocket("doctor", "dev1", "--json").run()
      #expect(result.end == .code(1), "\(result.errorText)")
      let lines = try lines(result)
      let store = lines.first { $0.subject == "store" }
      #expect(store?.verdict == "failure" && store?.what.contains("not a database") == true)
      #expect(lines.contains { $0.subject == "bash" && $0.verdict == "ok" })
      #expect(try readFile(world.folder["store/pocket.db"]) == garbage)
    }
  }

  @Test func aHostNameThatCanBeNoneIsAUsageError() async throws {
    try await ProgramWorld.with { world in
      let result = try await world.pocket("doctor", "a;b").run()
      #expect(result.end == .code(64) && result.output.isEmpty)
    }
  }
}
