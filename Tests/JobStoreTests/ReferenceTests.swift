import JobModel
import Testing

@testable import JobStore

@Suite struct ReferenceTests {
  let temporary: TemporaryStore
  let store: JobStore

  init() async throws {
    temporary = try TemporaryStore()
    store = try await temporary.open()
    for (id, host, name) in [
      ("abcdefghijk1", "dev1", nil), ("abcdxxxxxxx1", "dev2", "abcde"),
      ("zzzzzzzzzzz9", "dev1", "z"),
    ] {
      let request = JobRequest(name: name, arguments: [Array("true".utf8)])
      try await store.insert(Job(id: JobID(id)!, host: host, request: request, createdAt: 1))
    }
  }

  @Test(arguments: [
    ("abcdefghijk1", "abcdefghijk1"), ("@", "zzzzzzzzzzz9"), ("@1", "zzzzzzzzzzz9"),
    ("@2", "abcdxxxxxxx1"), ("@3", "abcdefghijk1"), ("@dev1", "zzzzzzzzzzz9"),
    ("@dev2", "abcdxxxxxxx1"),
    // A name comes before the beginning of an id, even where that would be unique.
    ("abcde", "abcdxxxxxxx1"), ("z", "zzzzzzzzzzz9"),
    ("abcdef", "abcdefghijk1"), ("abcdx", "abcdxxxxxxx1"), ("zz", "zzzzzzzzzzz9"),
  ])
  func aReferenceMeansOneJob(reference: String, id: String) async throws {
    #expect(try await store.resolve(reference).id.description == id)
  }

  @Test(arguments: [
    "", "@0", "@4", "@-1", "@dev", "@99999999999999999999", "abce", "nosuchjob123", "ABCD", "%",
    "a*",
    "zzzzzzzzzzz9x", "{",
  ])
  func whatMeansNothingIsAnError(reference: String) async throws {
    let error = await refusal { () async throws(StoreError) in
      _ = try await store.resolve(reference)
    }
    guard case .noSuchJob(let words)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(words == reference)
  }

  @Test func severalJobsAreListed() async throws {
    let error = await refusal { () async throws(StoreError) in
      _ = try await store.resolve("abc")
    }
    guard case .ambiguous(let reference, let candidates)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reference == "abc")
    #expect(candidates.map(\.id.description) == ["abcdxxxxxxx1", "abcdefghijk1"])
  }
}
