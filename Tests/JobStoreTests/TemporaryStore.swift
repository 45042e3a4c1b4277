import JobModel
import TestSupport
import Testing

@testable import JobStore

/// A store in a temporary folder. When it goes, it checks what must hold for every store, so that
/// every test does.
final class TemporaryStore: Sendable {
  let folder: TemporaryFolder
  let location: StoreLocation

  init() throws {
    folder = try TemporaryFolder("store")
    location = StoreLocation(path: folder["state/pocket.db"])
  }

  deinit {
    do { try Self.checkInvariants(location.path) } catch { Issue.record(error) }
  }

  func open() async throws(StoreError) -> JobStore { try await JobStore(at: location) }

  /// SQLite finds the file whole; and each generation's rows join to exactly what is committed.
  static func checkInvariants(_ path: String) throws {
    let connection = try Connection(path: path)
    let verdict = try connection.first("PRAGMA integrity_check") { $0.text(0) }
    #expect(verdict == "ok")
    #expect(try connection.first("PRAGMA foreign_key_check") { _ in true } == nil)
    var ends: [String: Int64] = [:]
    try connection.query(
      """
      SELECT job || ' ' || stream || ' ' || generation, start, length(bytes) FROM chunk
      ORDER BY job, stream, generation, start
      """
    ) { row in
      let key = row.text(0)
      #expect(row.integer(1) == ends[key, default: 0], "a gap or an overlap in \(key)")
      ends[key] = row.integer(1) + row.integer(2)
      return true
    }
    try connection.query(
      "SELECT job || ' ' || stream || ' ' || generation, committed FROM generation"
    ) { row in
      #expect(row.integer(1) == ends.removeValue(forKey: row.text(0)) ?? 0)
      return true
    }
    #expect(ends.isEmpty)
  }
}

extension JobStore {
  /// Calls `body` with each statement before it runs.
  func onStatement(_ body: (@Sendable (String) -> Void)?) {
    database.connection.willRun = body
  }

  /// Checkpoints after this many pages.
  func setLogLimit(_ pages: Int) { database.logLimit = pages }

  /// All stored bytes of a stream's generation.
  func bytes(of id: JobID, _ stream: JobStream, generation: Int = 0) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var sequence: Int64 = 0
    while true {
      let chunks = try chunks(of: id, after: sequence, limitBytes: 1)
      guard let last = chunks.last else { return bytes }
      sequence = last.sequence
      for chunk in chunks where chunk.stream == stream && chunk.generation == generation {
        bytes += chunk.bytes
      }
    }
  }

  /// Commits text as one run at the place that the stream has reached.
  @discardableResult
  func append(_ text: String, to id: JobID, _ stream: JobStream = .out) throws -> CommitResult {
    let position = try position(of: id, stream)
    let run = LineAssembler.Run(offset: position.offset, bytes: Array(text.utf8), kind: .lines)
    return try commit([run], to: id, stream, generation: position.generation, at: position.offset)
  }
}

/// An id from a number.
func jobID(_ number: Int) -> JobID {
  let digits = String(number)
  return JobID("j" + String(repeating: "0", count: 11 - digits.count) + digits)!
}

func makeJob(_ number: Int = 1, host: String = "dev1", name: String? = nil) -> Job {
  let request = JobRequest(
    agent: "claude", name: name, workingDirectory: Array("/tmp/작업".utf8) + [0xFF],
    arguments: [Array("claude".utf8), Array("-p\n".utf8)], environmentNames: ["KEY"],
    readsPrompt: true, prompt: Array("첫 줄\n둘째\0".utf8))
  return Job(id: jobID(number), host: host, request: request, createdAt: Int64(1000 + number))
}

/// What `body` throws. That it throws nothing is a failure of the test.
func refusal(of body: () async throws(StoreError) -> Void) async -> StoreError? {
  do throws(StoreError) {
    try await body()
    Issue.record("nothing was refused")
    return nil
  } catch {
    return error
  }
}
