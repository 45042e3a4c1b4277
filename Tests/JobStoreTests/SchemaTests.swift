import JobModel
import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct SchemaTests {
  let temporary: TemporaryStore
  var path: String { temporary.location.path }

  init() throws { temporary = try TemporaryStore() }

  private func mode(_ path: String) throws -> mode_t {
    var status = stat()
    #expect(stat(path, &status) == 0)
    return status.st_mode & 0o7777
  }

  @Test func folderAndFilesAreTheUsersAlone() async throws {
    let store = try await temporary.open()
    try await store.insert(makeJob())
    #expect(try mode(temporary.folder["state"]) == 0o700)
    for suffix in ["", "-wal", "-shm", "-lock"] {
      #expect(try mode(path + suffix) == 0o600, "pocket.db\(suffix)")
    }
  }

  @Test func rightsOfOthersAreTakenAway() async throws {
    _ = try await temporary.open()
    #expect(chmod(temporary.folder["state"], 0o755) == 0)
    #expect(chmod(path, 0o644) == 0)
    let store = try await temporary.open()
    try await store.insert(makeJob())
    #expect(try mode(temporary.folder["state"]) == 0o700)
    #expect(try mode(path) == 0o600)
  }

  @Test func theSettingsAreThoseOfTheDesign() async throws {
    let store = try await temporary.open()
    #expect(try await store.pragma("journal_mode") == "wal")
    #expect(try await store.pragma("synchronous") == "1")
    #expect(try await store.pragma("foreign_keys") == "1")
    #expect(try await store.pragma("busy_timeout") == "10000")
    #expect(try await store.pragma("user_version") == "\(Schema.migrations.count)")
  }

  @Test func anOlderStoreIsBroughtUpToDateAndKeepsItsJobs() async throws {
    var store: JobStore? = try await temporary.open()
    try await store?.insert(makeJob())
    store = nil
    // As the first published format was.
    try Connection(path: path).execute(
      """
      DROP TABLE host; DROP TABLE late; DROP TABLE intent;
      ALTER TABLE job DROP COLUMN evidence; ALTER TABLE job DROP COLUMN evidence_at;
      ALTER TABLE job DROP COLUMN output_at;
      CREATE TABLE intent (number INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (number),
        kind TEXT NOT NULL, wanted_at INTEGER NOT NULL, UNIQUE (job, kind));
      INSERT INTO intent (job, kind, wanted_at) SELECT number, 'cancel', 5 FROM job;
      UPDATE job SET leftovers = '7 8';
      PRAGMA user_version = 1
      """)
    let reopened = try await temporary.open()
    #expect(try await reopened.jobs().map(\.leftovers) == [[]])
    #expect(try await reopened.intents(for: "dev1").map(\.wantedAt) == [5])
    try await reopened.recordContact(with: "dev1", engine: "libssh2 1.10.0", at: 7)
    #expect(try await reopened.contacts().map(\.at) == [7])
  }

  @Test func aNewerStoreIsRefusedUntouched() async throws {
    var store: JobStore? = try await temporary.open()
    try await store?.insert(makeJob())
    store = nil
    try Connection(path: path).execute("PRAGMA user_version = 9; PRAGMA wal_checkpoint(TRUNCATE)")
    let before = try readFile(path)
    let error = await refusal { () async throws(StoreError) in
      _ = try await temporary.open()
    }
    guard case .newerVersion(let refused, let found, let known)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(refused == path)
    #expect(found == 9)
    #expect(known == Schema.migrations.count)
    #expect(try readFile(path) == before)
  }

  @Test func anotherProgramsDatabaseIsRefusedUntouched() async throws {
    let folder = try temporary.folder.folder("other")
    let location = StoreLocation(path: folder + "/pocket.db")
    try location.prepare()
    try Connection(path: location.path).execute("CREATE TABLE theirs (x)")
    let before = try readFile(location.path)
    await #expect(throws: StoreError.self) { try await JobStore(at: location) }
    #expect(try readFile(location.path) == before)
    _ = try await temporary.open()
  }

  @Test func whatIsNoDatabaseIsRefusedWithSQLitesWords() async throws {
    let folder = try temporary.folder.folder("text")
    let location = StoreLocation(path: folder + "/pocket.db")
    try writeFile(location.path, Array(String(repeating: "no database\n", count: 500).utf8))
    let error = await refusal { () async throws(StoreError) in
      _ = try await JobStore(at: location)
    }
    guard case .sqlite(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.words == "file is not a database")
    #expect(failure.path == location.path)
    _ = try await temporary.open()
  }

  @Test func manyAtOnceMakeOneStore() async throws {
    let temporary = temporary
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...8 {
        group.addTask {
          let store = try await temporary.open()
          try await store.insert(makeJob(number))
        }
      }
      try await group.waitForAll()
    }
    #expect(try await temporary.open().jobs().count == 8)
  }

  @Test func closingNeverCheckpoints() async throws {
    var store: JobStore? = try await temporary.open()
    try await store?.insert(makeJob())
    let before = try readFile(path)
    store = nil
    // Every kind of connection: the store's own, and the watch's.
    for try await _ in try await temporary.open().changes() { break }
    try await waitUntil("the watch has closed") { try openFiles(path).isEmpty }
    #expect(try readFile(path) == before)
    #expect(try await temporary.open().jobs().count == 1)
  }

  /// The numbers of this process's descriptors that are open on `path`.
  private func openFiles(_ path: String) throws -> [Int32] {
    var wanted = stat()
    #expect(stat(path, &wanted) == 0)
    return (0..<256).filter { descriptor in
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_ino == wanted.st_ino
        && status.st_dev == wanted.st_dev
    }
  }
}

extension JobStore {
  fileprivate func pragma(_ name: String) throws -> String? {
    try database.connection.first("PRAGMA \(name)") { $0.text(0) }
  }
}
