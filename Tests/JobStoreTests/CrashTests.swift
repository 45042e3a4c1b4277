import JobModel
import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a process was doing when it was killed.
enum Deed: String, CaseIterable {
  case insert, commit, gap, finish, remove, checkpoint

  static let output = "one\ntwo\n"

  /// What stands in the store before the deed.
  func prepare(_ store: JobStore) async throws {
    if self == .insert { return }
    try await store.insert(makeJob())
    if self != .commit { try await store.append(Self.output, to: jobID(1)) }
  }

  /// The deed.
  func perform(_ store: JobStore) async throws {
    let id = jobID(1)
    switch self {
    case .insert: try await store.insert(makeJob())
    case .commit:
      let runs = [
        LineAssembler.Run(offset: .zero, bytes: Array("one\n".utf8), kind: .lines),
        LineAssembler.Run(offset: ByteOffset(4), bytes: Array("two\n".utf8), kind: .lines),
      ]
      _ = try await store.commit(runs, to: id, .out, generation: 0, at: .zero)
    case .gap:
      _ = try await store.endGeneration(
        of: id, .out, generation: 0, reason: .shrunk, at: ByteOffset(8))
    case .finish:
      let record = ExitRecord(
        status: .code(0), outSize: ByteOffset(8), errSize: .zero, startedAt: 1, endedAt: 2,
        cancelRequested: false)
      _ = try await store.finish(id, record, at: 5)
    case .remove: try await store.remove(id)
    case .checkpoint:
      await store.setLogLimit(0)
      try await store.append("three\n", to: id)
    }
  }
}

/// All that a store says about its one job.
private struct Picture: Equatable {
  var job: Job?
  var position: StreamPosition?
  var bytes: [UInt8] = []

  init(_ store: JobStore) async throws {
    job = try await store.job(jobID(1))
    guard job != nil else { return }
    position = try await store.position(of: jobID(1), .out)
    bytes = try await store.bytes(of: jobID(1), .out)
  }
}

/// Kill -9 before each statement: afterwards the store is as it was before, or as it is after.
@Suite struct CrashTests {
  /// Calls `body` with the number of each statement of the deed, from 1.
  static func perform(
    _ deed: Deed, in store: JobStore, before body: @escaping @Sendable (Int) -> Void
  ) async throws {
    let count = Locked(0)
    await store.onStatement { _ in
      body(
        count.withLock {
          $0 += 1
          return $0
        })
    }
    try await deed.perform(store)
    await store.onStatement(nil)
  }

  @Test(arguments: Deed.allCases)
  func aProcessKilledBetweenStatementsLeavesAllOrNothing(deed: Deed) async throws {
    let model = try TemporaryStore()
    let modelStore = try await model.open()
    try await deed.prepare(modelStore)
    let before = try await Picture(modelStore)
    let last = Locked(0)
    try await Self.perform(deed, in: modelStore) { number in last.withLock { $0 = number } }
    let after = try await Picture(modelStore)
    #expect(before != after)
    let statements = last.withLock { $0 }
    #expect(statements >= 3)
    for number in 1...statements {
      let temporary = try TemporaryStore()
      try await deed.prepare(try await temporary.open())
      let (path, name) = (temporary.location.path, deed.rawValue)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, name = name as String, number = number as Int] in
        let deed = try #require(Deed(rawValue: name))
        let store = try await JobStore(at: StoreLocation(path: path))
        try await CrashTests.perform(deed, in: store) { now in
          if now == number { kill(getpid(), SIGKILL) }
        }
      }
      let found = try await Picture(try await temporary.open())
      // Only a checkpoint comes after the commit.
      let isCommitted = deed == .checkpoint && number == statements
      #expect(found == (isCommitted ? after : before), "statement \(number) of \(statements)")
    }
  }
}
