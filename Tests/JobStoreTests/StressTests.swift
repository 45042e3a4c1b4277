import JobModel
import TestSupport
import Testing

@testable import JobStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// write(2); inside the suite the name is taken.
private let posixWrite = write

/// Several real processes write and checkpoint one store at once, and some are killed: what a
/// process was told to be committed stays, and nothing is there twice.
///
/// It shows that the lock is enough on a library with the WAL-reset bug. That everything happens
/// under the lock, `LockTests` shows.
@Suite(.serialized) struct StressTests {
  /// `POCKET_STRESS=20` makes it twenty times as long.
  static let scale = getenv("POCKET_STRESS").flatMap { Int(String(cString: $0)) } ?? 1

  /// The bytes of the line that begins at `offset` in the output of a stress job.
  static func line(_ writer: Int, at offset: Int64) -> [UInt8] {
    let length = Int(offset &* 2_654_435_761 % 3000)
    return Array("\(writer) \(offset) \(String(repeating: "줄", count: length))\n".utf8)
  }

  /// Commits lines to the writer's own job, and to job 99 that all share. What was committed is
  /// written to `journal`, by one write(2) after each commit.
  static func write(_ writer: Int, commits: Int, in path: String, journal: String) async throws {
    let store = try await JobStore(at: StoreLocation(path: path))
    // So small that nearly every commit checkpoints.
    await store.setLogLimit(Int.random(in: 1...30))
    let file = open(journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    for number in 0..<commits {
      let shared = number % 4 == 0
      let id = jobID(shared ? 99 : writer)
      var expected = try await store.position(of: id, .out).offset
      let bytes = line(shared ? 99 : writer, at: expected.rawValue)
      let run = LineAssembler.Run(offset: expected, bytes: bytes, kind: .lines)
      if case .committed(let end) = try await store.commit(
        [run], to: id, .out, generation: 0, at: expected)
      {
        expected = end
        if !shared {
          let entry = "\(end)\n"
          _ = entry.utf8CString.withUnsafeBytes { posixWrite(file, $0.baseAddress, $0.count - 1) }
        }
      }
    }
    close(file)
  }

  /// Ends this process by SIGKILL after a random time.
  static func killSoon() {
    let pause = UInt32.random(in: 1000...400_000)
    TestSupport.startThread {
      usleep(pause)
      kill(getpid(), SIGKILL)
    }
  }

  private func check(_ path: String, journals: [Int: String]) async throws {
    try TemporaryStore.checkInvariants(path)
    let store = try await JobStore(at: StoreLocation(path: path))
    for (writer, journal) in journals {
      let bytes = try await store.bytes(of: jobID(writer), .out)
      var expected: [UInt8] = []
      while expected.count < bytes.count {
        expected += Self.line(writer, at: Int64(expected.count))
      }
      #expect(bytes == expected, "output of \(writer)")
      let acknowledged = try readFile(journal).split(separator: 0x0A).last
      let end = acknowledged.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
      #expect(bytes.count >= end, "writer \(writer) lost a commit")
    }
  }

  private func prepare(_ temporary: TemporaryStore) async throws -> [Int: String] {
    let store = try await temporary.open()
    var journals: [Int: String] = [:]
    for writer in [1, 2, 3, 99] {
      try await store.insert(makeJob(writer))
      journals[writer] = try temporary.folder.write("journal\(writer)", "")
    }
    return journals
  }

  @Test func processesThatWriteAndCheckpointAtOnceLoseNothing() async throws {
    let temporary = try TemporaryStore()
    let journals = try await prepare(temporary)
    let path = temporary.location.path
    await withTaskGroup(of: Void.self) { group in
      for writer in 1...3 {
        let journal = journals[writer] ?? ""
        group.addTask {
          await #expect(processExitsWith: .success) {
            [writer = writer as Int, path = path as String, journal = journal as String] in
            try await StressTests.write(
              writer, commits: 150 * StressTests.scale, in: path, journal: journal)
          }
        }
      }
      // A reader that comes and goes: the last to close must not checkpoint.
      group.addTask {
        await #expect(processExitsWith: .success) { [path = path as String] in
          for _ in 0..<(40 * StressTests.scale) {
            let store = try await JobStore(at: StoreLocation(path: path))
            for job in try await store.jobs() {
              _ = try await store.prefixDigest(of: job.id, .out, generation: 0)
            }
          }
        }
      }
    }
    try await check(path, journals: journals)
    let store = try await temporary.open()
    for writer in 1...3 {
      let bytes = try readFile(journals[writer] ?? "")
      #expect(
        bytes.split(separator: 0x0A).count == 150 * Self.scale - (150 * Self.scale + 3) / 4,
        "writer \(writer) did not end")
      #expect(try await store.position(of: jobID(writer), .out).offset > .zero)
    }
  }

  @Test func processesKilledAtRandomMomentsLoseNothing() async throws {
    let temporary = try TemporaryStore()
    let journals = try await prepare(temporary)
    let path = temporary.location.path
    for _ in 0..<(4 * Self.scale) {
      await withTaskGroup(of: Void.self) { group in
        for writer in 1...3 {
          let journal = journals[writer] ?? ""
          group.addTask {
            await #expect(processExitsWith: .signal(SIGKILL)) {
              [writer = writer as Int, path = path as String, journal = journal as String] in
              StressTests.killSoon()
              try await StressTests.write(writer, commits: 1_000_000, in: path, journal: journal)
            }
          }
        }
      }
      try await check(path, journals: journals)
    }
    let store = try await temporary.open()
    #expect(try await store.position(of: jobID(1), .out).offset > .zero)
  }
}
