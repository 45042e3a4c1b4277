import JobModel
import JobStore
import PocketKit
import SSHClient
import TestSupport
import Testing

/// A host and a store of a test's own, and clients between them.
struct World {
  let server: LoopbackServer
  let folder: TemporaryFolder
  let store: JobStore

  /// Runs `body` in a fresh world; afterwards no process of it is left.
  static func with<Result>(
    _ options: LoopbackServer.Options = .init(), _ body: (World) async throws -> Result
  ) async throws -> Result {
    try await withLoopbackServer(options) { server in
      let folder = try TemporaryFolder("store")
      let store = try await JobStore(at: StoreLocation(path: folder["pocket.db"]))
      return try await body(World(server: server, folder: folder, store: store))
    }
  }

  /// A client over libssh2, as the command line makes one.
  func client(
    onPhase: @escaping @Sendable (ConnectionPhase) -> Void = { _ in }
  ) -> JobClient {
    client(of: store, onPhase: onPhase)
  }

  /// A client of another connection to the store.
  func client(
    of store: JobStore, onPhase: @escaping @Sendable (ConnectionPhase) -> Void = { _ in },
    onIntent: @escaping @Sendable (IntentEvent) async -> Void = { _ in }
  ) -> JobClient {
    JobClient(store: store, onIntent: onIntent) {
      [configuration = server.sshConfiguration] host throws(SSHError) in
      try SSHConnector(
        host: host,
        options: ConnectionOptions(configurationFile: configuration, onPhase: onPhase))
    }
  }

  /// A second client with a connection to the store of its own.
  func otherStore() async throws -> JobStore {
    try await JobStore(at: StoreLocation(path: folder["pocket.db"]))
  }

  /// The bytes of a stream's file on the host.
  func hostFile(_ id: JobID, _ stream: JobStream) throws -> [UInt8] {
    try readFile(jobFolder(id) + (stream == .out ? "/out.jsonl" : "/err.log"))
  }

  func jobFolder(_ id: JobID) -> String { "\(server.remoteHome)/.pocket/jobs/\(id)" }

  /// All stored bytes of a stream's newest generation.
  func stored(_ id: JobID, _ stream: JobStream) async throws -> [UInt8] {
    try await store.bytes(of: id, stream)
  }
}

extension JobStore {
  /// All stored bytes of a stream's newest generation.
  func bytes(of id: JobID, _ stream: JobStream) throws -> [UInt8] {
    let generation = try position(of: id, stream).generation
    var bytes: [UInt8] = []
    var sequence: Int64 = 0
    while true {
      let chunks = try chunks(of: id, after: sequence)
      guard let last = chunks.last else { return bytes }
      sequence = last.sequence
      for chunk in chunks where chunk.stream == stream && chunk.generation == generation {
        bytes += chunk.bytes
      }
    }
  }
}

extension JobRequest {
  /// A request to run a line of shell.
  static func shell(_ script: String, prompt: String? = nil) -> JobRequest {
    JobRequest(
      arguments: ["sh", "-c", script].map { Array($0.utf8) }, readsPrompt: prompt != nil,
      prompt: Array((prompt ?? "").utf8))
  }
}

extension JobClient {
  /// Creates and launches a job.
  func start(_ request: JobRequest, on host: String = "dev1") async throws -> Job {
    let job = try await create(request, on: host)
    #expect(try await launch(job.id) == .running)
    return job
  }

  /// Follows a job to its end; the events, the last of which is `ended`.
  func followToEnd(_ id: JobID) async throws -> (state: JobState, events: [JobEvent]) {
    var events: [JobEvent] = []
    for try await event in follow(id) {
      events.append(event)
      if case .ended(let state) = event { return (state, events) }
    }
    throw FollowHadNoEnd()
  }
}

struct FollowHadNoEnd: Error {}

/// The byte-wise comparison that all tests make at the end, with a short message.
func expectSame(
  _ stored: [UInt8], _ expected: [UInt8], _ what: String,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard stored != expected else { return }
  let difference = zip(stored, expected).enumerated().first { $1.0 != $1.1 }?.offset
  Issue.record(
    "\(what): \(stored.count) bytes stored, \(expected.count) expected, first difference at \(difference ?? min(stored.count, expected.count))",
    sourceLocation: sourceLocation)
}
