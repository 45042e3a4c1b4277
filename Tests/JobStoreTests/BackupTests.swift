import JobModel
import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct BackupTests {
  @Test func aBackupHoldsEverythingWhileTheStoreIsInUse() async throws {
    let temporary = try TemporaryStore()
    let store = try await temporary.open()
    try await store.insert(makeJob(name: "night"))
    try await store.append("line\n", to: jobID(1))
    let path = temporary.folder["copy.db"]
    try await store.backup(to: path)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o600)
    try await store.append("later\n", to: jobID(1))
    try TemporaryStore.checkInvariants(path)
    let copy = try await JobStore(at: StoreLocation(path: path))
    #expect(try await copy.resolve("night").id == jobID(1))
    #expect(try await copy.bytes(of: jobID(1), .out) == Array("line\n".utf8))
  }

  @Test func anExistingFileIsNotTouched() async throws {
    let temporary = try TemporaryStore()
    let store = try await temporary.open()
    let path = try temporary.folder.write("precious", "")
    let error = await refusal { () async throws(StoreError) in
      try await store.backup(to: path)
    }
    guard case .backupExists(let refused)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(refused == path)
    #expect(try readFile(path).isEmpty)
  }

  @Test func aBackupThatCannotBeWrittenSaysWhere() async throws {
    let temporary = try TemporaryStore()
    let store = try await temporary.open()
    let error = await refusal { () async throws(StoreError) in
      try await store.backup(to: temporary.folder["missing/copy.db"])
    }
    guard case .file(let path, _, let code)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasSuffix("missing/copy.db"))
    #expect(code == ENOENT)
  }
}
