import JobModel
import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct LockTests {
  @Test func everyWriteAndEveryCheckpointHappensUnderTheLock() async throws {
    let temporary = try TemporaryStore()
    let store = try await temporary.open()
    await store.setLogLimit(0)
    let lockPath = temporary.location.lockPath
    let seen = Locked<[String: Bool]>([:])
    await store.onStatement { sql in
      let file = open(lockPath, O_RDWR | O_CLOEXEC)
      let isFree = flock(file, LOCK_EX | LOCK_NB) == 0
      close(file)
      let word = String(sql.prefix { $0 != " " && $0 != "\n" })
      seen.withLock { $0[word] = isFree || $0[word] == true }
    }
    try await store.insert(makeJob())
    try await store.append("line\n", to: jobID(1))
    try await store.record(.running, for: jobID(1))
    try await store.addIntent(.cancel, for: jobID(1))
    let claim = try #require(await store.claimIntent(.cancel, of: jobID(1)))
    try await store.renew(claim)
    try await store.finish(claim)
    try await store.markLooked()
    try await store.remove(jobID(1))
    let words = seen.withLock { $0 }
    for word in ["BEGIN", "INSERT", "UPDATE", "DELETE", "COMMIT", "checkpoint"] {
      #expect(words[word] == false, "\(word) was seen without the lock, or not at all")
    }
  }

  @Test func aWriteWaitsForAnotherWriter() async throws {
    let temporary = try TemporaryStore()
    let store = try await temporary.open()
    try await store.insert(makeJob())
    let path = temporary.location.lockPath
    let (isHeld, isLetGo) = (Locked(false), Locked(false))
    async let holder: Void = onOwnThread {
      try StoreLock(path: path).withLock {
        isHeld.withLock { $0 = true }
        usleep(300_000)
        isLetGo.withLock { $0 = true }
      }
    }
    try await waitUntil("the lock is held") { isHeld.withLock { $0 } }
    try await store.append("line\n", to: jobID(1))
    #expect(isLetGo.withLock { $0 })
    try await holder
  }

  @Test func lookingWaitsForNoWriter() async throws {
    let temporary = try TemporaryStore()
    try await temporary.open().insert(makeJob())
    let path = temporary.location.lockPath
    let (isHeld, mayLetGo) = (Locked(false), Locked(false))
    async let holder: Void = onOwnThread {
      try StoreLock(path: path).withLock {
        isHeld.withLock { $0 = true }
        while !mayLetGo.withLock({ $0 }) { usleep(1000) }
      }
    }
    try await waitUntil("the lock is held") { isHeld.withLock { $0 } }
    #expect(try await temporary.open().jobs().count == 1)
    mayLetGo.withLock { $0 = true }
    try await holder
  }

  @Test func whoWaitsTooLongIsTold() async throws {
    let temporary = try TemporaryStore()
    _ = try await temporary.open()
    let path = temporary.location.lockPath
    let error = try await onOwnThread { () -> StoreError? in
      let (holder, waiter) = (try StoreLock(path: path), try StoreLock(path: path))
      do throws(StoreError) {
        try holder.withLock { () throws(StoreError) in try waiter.withLock(patience: 1) {} }
        return nil
      } catch {
        return error
      }
    }
    guard case .lockHeld(path, seconds: 1)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func aLongWaitIsToldOnce() async throws {
    let temporary = try TemporaryStore()
    _ = try await temporary.open()
    let path = temporary.location.lockPath
    let told = Locked(0)
    try await onOwnThread {
      let holder = try StoreLock(path: path)
      let waiter = try StoreLock(path: path) { told.withLock { $0 += 1 } }
      try waiter.withLock {}
      #expect(told.withLock { $0 } == 0)
      #expect(throws: StoreError.self) {
        try holder.withLock { () throws(StoreError) in try waiter.withLock(patience: 4) {} }
      }
    }
    #expect(told.withLock { $0 } == 1)
  }

  @Test func theLockOfADeadProcessIsFree() async throws {
    let temporary = try TemporaryStore()
    let path = temporary.location.lockPath
    _ = try await temporary.open()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try StoreLock(path: path).withLock { _ = kill(getpid(), SIGKILL) }
    }
    try await onOwnThread { try StoreLock(path: path).withLock(patience: 1) {} }
  }

  @Test(arguments: [
    (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true),
    (3_044_006, false), (3_045_000, true), (3_050_006, true), (3_050_007, false),
    (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_060_000, false),
  ])
  func affectedLibrariesAreKnown(version: Int32, isAffected: Bool) {
    #expect(SQLiteLibrary.hasWALResetBug(version: version) == isAffected)
  }
}
