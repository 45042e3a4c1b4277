import CSSH2
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Every process that uses SSHClient in tests is marked as such (design, invariant 10).
private let isMarkedAsTest =
  variable("POCKET_TESTING") != nil || setenv("POCKET_TESTING", "1", 1) == 0

/// Where `ssh` connects, Pocket connects.
///
/// `make test` tries a sample. `make ssh-matrix` runs this once for each libssh2 with `POCKET_MATRIX`,
/// the file that keeps the results, and the last time with `POCKET_MATRIX_TABLE`, the page to write.
@Suite struct MatrixTests {
  @Test func whereSSHConnectsPocketConnects() async throws {
    #expect(isMarkedAsTest)
    let programs = Programs()
    let results = try Results(path: variable("POCKET_MATRIX"))
    let page = variable("POCKET_MATRIX_TABLE")
    let isSample = variable("POCKET_MATRIX") == nil
    let rows = isSample ? programs.sample : programs.allRows
    let library = String(cString: try #require(libssh2_version(0)))

    try await ThrowawayAccount.with { account in
      let world = World(
        keyring: try Keyring(securityKeyProvider: programs.securityKeyProvider), account: account)
      try await fill(results, rows, library, world)
    }
    if page == nil && !isSample { return }

    let columns = await results.columns(libraries: [library, "1.11.1"])
    for row in rows {
      for objection in row.objections(await results.cells(row, columns)) {
        Issue.record("\(row.section), \(row.test.name): \(objection)")
      }
    }
    if let page {
      try await noteVersions(programs, in: results)
      let text = await Table(rows: rows, columns: columns, results: results).text()
      try writeFile(page, Array(text.utf8), mode: 0o644)
    }
  }

  /// Tries what has no result yet, three rows at a time: they wait more than they work.
  private func fill(
    _ results: Results, _ rows: [Row], _ library: String, _ world: World
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, row) in rows.enumerated() {
        if index >= 3 { try await group.next() }
        group.addTask { try await fill(results, row, library, world) }
      }
      try await group.waitForAll()
    }
  }

  private func fill(
    _ results: Results, _ row: Row, _ library: String, _ world: World
  ) async throws {
    var missing: [Column] = []
    for column in Client.allCases.map({ Column($0, library: library) }) {
      if await results[row, column] == nil { missing.append(column) }
    }
    if missing.isEmpty { return }
    if let obstacle = Scene.obstacle(row, world) {
      for column in missing { try await results.set(row, column, .notTried(obstacle)) }
      return
    }
    let scene = try await Scene(row, world)
    do {
      for column in missing {
        try await results.set(row, column, try await scene.attempt(column.client, row.test))
      }
      try await scene.stop()
    } catch {
      try await scene.stop()
      throw error
    }
  }

  private func noteVersions(_ programs: Programs, in results: Results) async throws {
    for program in programs.all {
      try await results.setVersion(of: program.title, try await program.version())
    }
    let words = try await Command("ssh", ["-V"]).run().errorText
    try await results.setVersion(of: "ssh", String(words.prefix { $0 != "," }))
  }
}
