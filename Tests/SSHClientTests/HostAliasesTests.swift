import TestSupport
import Testing

@testable import SSHClient

extension SSHClientTests {
  @Suite struct HostAliasesTests {
    let folder: TemporaryFolder

    init() throws {
      precondition(isMarkedAsTest)
      folder = try TemporaryFolder("aliases")
    }

    private func aliases(_ text: String) async throws -> [String] {
      try folder.write("config", text)
      return try await HostAliases.read(configurationFile: folder["config"])
    }

    @Test func hostLinesGiveNamesOnceAndInTheirOrder() async throws {
      let names = try await aliases(
        "User me\nHost b a # not this\n  HostName x\n\tHOST = c\nhost=\"d\" \"e f\"\r\nHost b\n#Host no\n"
          + "Match host m\nHostName =h\nHost")
      #expect(names == ["b", "a", "c", "d", "e f"])
    }

    @Test func patternsAreNoNames() async throws {
      #expect(try await aliases("Host *.example ? !not box *\n") == ["box"])
    }

    @Test func includedFilesCountWhereTheyStand() async throws {
      try folder.write("one.conf", "Host one\nInclude \(folder["deep"])\n")
      try folder.write("two.conf", "Host two\n")
      try folder.write("deep", "Host deep\n")
      let names = try await aliases(
        "Host first\nMatch all\nInclude \(folder.path)/*.conf \(folder["absent"])\nHost last\n")
      #expect(names == ["first", "one", "deep", "two", "last"])
    }

    @Test func aFileThatIncludesItselfEnds() async throws {
      #expect(try await aliases("Host a\nInclude \(folder["config"])\n") == ["a"])
    }

    @Test func noFileIsNoNames() async throws {
      #expect(try await HostAliases.read(configurationFile: folder["absent"]) == [])
      #expect(try await HostAliases.read(configurationFile: "none") == [])
    }

    @Test func theUsersOwnFileIsRefusedInATest() async throws {
      let error = try await sshError { _ = try await HostAliases.read(configurationFile: nil) }
      #expect(error.kind == .badConfiguration)
    }
  }
}
