import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct StoreLocationTests {
  private func path(_ environment: [String: String]) throws -> String {
    try StoreLocation.default(environment: environment).path
  }

  @Test func theUsersOwnStoreIsWhereTheEnvironmentSays() throws {
    let all = ["HOME": "/home/u", "XDG_STATE_HOME": "/state", "POCKET_HOME": "/p q"]
    #expect(try path(all) == "/p q/pocket.db")
    #expect(try path(["HOME": "/home/u", "XDG_STATE_HOME": "/state"]) == "/state/pocket/pocket.db")
    #expect(try path(["HOME": "/home/u"]) == "/home/u/.local/state/pocket/pocket.db")
    #expect(
      try path(["HOME": "/home/u", "XDG_STATE_HOME": "state", "POCKET_HOME": ""])
        == "/home/u/.local/state/pocket/pocket.db")
    #expect(throws: StoreError.self) { try path(["HOME": "/home/u", "POCKET_HOME": "here"]) }
    #expect(throws: StoreError.self) { try path([:]) }
    #expect(throws: StoreError.self) { try path(["HOME": "u"]) }
  }

  @Test func aTestProcessCannotOpenAStoreOutsideOfTheTemporaryFolder() async throws {
    // This very process: it must be known for a test by itself.
    let location = StoreLocation(path: "/nowhere/pocket/pocket.db")
    let error = await refusal { () async throws(StoreError) in
      _ = try await JobStore(at: location)
    }
    guard case .testProcess(let path)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == location.path)
  }

  @Test func aTestProcessIsKnownByItsMarkOrItsArguments() {
    func isTest(_ arguments: [String], _ marked: Bool = false) -> Bool {
      StoreLocation.isTestProcess(arguments: arguments, isMarked: marked)
    }
    #expect(!isTest(["/usr/bin/pocket", "run", "hello"]))
    #expect(isTest(["/usr/bin/pocket", "run"], true))
    #expect(isTest([".build/debug/pocketPackageTests.xctest"]))
    #expect(isTest(["/x/swiftpm-testing-helper", "--test-bundle-path", "y"]))
    #expect(isTest(["x", "--testing-library", "swift-testing"]))
  }

  @Test func symbolicLinksDoNotLeadOutOfTheTemporaryFolder() throws {
    let folder = try TemporaryFolder("location")
    #expect(symlink("/usr", folder["out"]) == 0)
    #expect(StoreLocation(path: folder["new/deep/pocket.db"]).isTemporary(in: [folder.path]))
    #expect(!StoreLocation(path: folder["out/pocket.db"]).isTemporary(in: [folder.path]))
    #expect(!StoreLocation(path: folder["out/new/pocket.db"]).isTemporary(in: [folder.path]))
    #expect(!StoreLocation(path: folder.path + "er/pocket.db").isTemporary(in: [folder.path]))
    #expect(!StoreLocation(path: "/pocket.db").isTemporary(in: ["/"]))
  }
}
