import JobModel
import JobStore
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The client is killed with -9 at random moments of one job, over and over.
@Suite struct KilledClientTests {
  private static let kills = 200
  private static let stepBytes = 100_000

  /// Waits for a token each round, then prints a part in ten slices, so that most kills meet a
  /// stream that is growing. A third of the bytes goes to stderr. 20 MB in all.
  private static let job = """
    i=0
    while [ $i -lt \(kills) ]; do
      until [ -e ~/go/$i ]; do sleep 0.02; done
      for slice in 0 1 2 3 4 5 6 7 8 9; do
        head -c 5000 /dev/urandom | od -An -v -tx1 | head -c 6667; echo
        head -c 2500 /dev/urandom | od -An -v -tx1 | head -c 3331 >&2; echo >&2
        sleep 0.03
      done
      i=$((i+1))
    done
    """

  @Test func nothingIsLostOrDoubledByAnyKill() async throws {
    try await ProgramWorld.with { world in
      try await Self.killRepeatedly(in: world)
    }
  }

  private static func killRepeatedly(in world: ProgramWorld) async throws {
    let tokens = world.server.remoteHome + "/go"
    mkdir(tokens, 0o700)
    let id = try await world.start(job)
    let store = try await world.openStore()
    let total = kills * stepBytes
    var histogram = [Int](repeating: 0, count: 10)
    var strictlyInside = 0
    // How long a client may live, in milliseconds. On a busy machine it needs longer to get anywhere:
    // a client that was killed before it committed a byte gives the next ones more time.
    var longestLife = 700
    var lastCommitted = 0
    for round in 0..<kills {
      try writeFile("\(tokens)/\(round)", [])
      var resume = world.pocket("resume", "\(id)")
      (resume.output, resume.errorOutput) = (.discard, .discard)
      let client = try resume.start()
      try await Task.sleep(for: .milliseconds(Int.random(in: 50...longestLife)))
      client.signal(SIGKILL)
      _ = try await client.exit()
      let committed = try await comparePrefixes(of: id, store, in: world, "kill \(round)")
      if committed > 0, committed < total { strictlyInside += 1 }
      let life = committed == lastCommitted ? longestLife * 5 / 4 : longestLife * 9 / 10
      longestLife = min(5000, max(500, life))
      lastCommitted = committed
      histogram[min(9, committed * 10 / total)] += 1
    }
    print("committed bytes at the kills, in tenths of the job: \(histogram)")
    print("\(strictlyInside) of \(kills) kills were strictly inside the job's output")
    #expect(strictlyInside >= 150)

    let last = try await world.pocket("resume", "\(id)").run(deadline: .seconds(120))
    #expect(last.end == .code(0), "\(last.errorText.suffix(300))")
    #expect(try world.isHostFile(last.output, of: id, .out))
    #expect(try world.isHostFile(last.errorOutput, of: id, .err))
    #expect(last.output.count + last.errorOutput.count == total)
    _ = try await comparePrefixes(of: id, store, in: world, "the end")
    #expect(try await world.pocket("verify", "\(id)").run().end == .code(0))
  }

  /// Compares what is stored with the files' beginnings by SHA-256; the count of stored bytes.
  private static func comparePrefixes(
    of id: JobID, _ store: JobStore, in world: ProgramWorld, _ moment: String
  ) async throws -> Int {
    var sum = 0
    for stream in JobStream.allCases {
      let position = try await store.position(of: id, stream)
      let stored = try await store.prefixDigest(of: id, stream, generation: position.generation)
      #expect(position.generation == 0 && stored.bytes == position.offset)
      let file = try readFile(world.hostFile(id, stream))
      let count = Int(stored.bytes.rawValue)
      try #require(file.count >= count, "\(moment): \(stream) has more bytes here than there")
      let digest = SHA256.hexDigest(of: Array(file.prefix(count)))
      #expect(stored.sha256 == digest, "\(moment): \(stream) differs in its first \(count) bytes")
      sum += count
    }
    return sum
  }
}
