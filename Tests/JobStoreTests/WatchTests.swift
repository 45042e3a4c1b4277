import JobModel
import TestSupport
import Testing

@testable import JobStore

@Suite struct WatchTests {
  @Test func aChangeByAnyoneIsTold() async throws {
    let temporary = try TemporaryStore()
    let (store, other) = (try await temporary.open(), try await temporary.open())
    var changes = store.changes().makeAsyncIterator()
    // The first one comes at once, so that nothing falls between a look and the watch.
    #expect(try await changes.next() != nil)
    for (number, writer) in [store, other, store].enumerated() {
      try await writer.insert(makeJob(number + 1))
      #expect(try await changes.next() != nil)
      #expect(try await store.jobs().count == number + 1)
    }
  }

  @Test func anErrorEndsTheWatch() async throws {
    let missing = StoreLocation(path: "/tmp/no such folder/pocket.db")
    await #expect(throws: StoreError.self) {
      for try await _ in StoreWatch.changes(at: missing) {}
    }
  }
}
