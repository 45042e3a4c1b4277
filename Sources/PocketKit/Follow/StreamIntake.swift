import JobModel
import JobStore

/// What a follow takes in of one stream: where it stands, and the line that is not complete yet.
struct StreamIntake: Sendable {
  let stream: JobStream
  let generation: Int
  private let start: StreamPosition
  private let startTail: [UInt8]
  private var assembler: LineAssembler

  /// Begins at the committed offset.
  init(of stream: JobStream, job: JobID, store: JobStore) async throws {
    self.stream = stream
    start = try await store.position(of: job, stream)
    startTail = try await store.tail(of: job, stream, before: start)
    generation = start.generation
    assembler = LineAssembler(position: start, tail: startTail)
  }

  /// The offset after the last byte received.
  var received: ByteOffset { assembler.received }

  /// The arguments of the follow verb: where to go on, and how to tell that the file is the same.
  var arguments: [(name: String, value: String)] {
    let name = stream.rawValue
    let fingerprint = start.offset == .zero ? "-" : String(PosixChecksum.of(startTail))
    return [
      ("\(name)_generation", String(generation)), ("\(name)_offset", start.offset.description),
      ("\(name)_inode", start.inode ?? "-"), ("\(name)_fingerprint", fingerprint),
    ]
  }

  /// Takes a frame in; nil when it is not the next one, or when the bytes received are not those
  /// that the host read again after it had sent them.
  mutating func take(_ frame: Frame) -> [LineAssembler.Run]? {
    guard frame.generation == generation, frame.offset == received,
      frame.isProved(after: assembler.tail)
    else { return nil }
    return assembler.append(frame.bytes)
  }

  /// The stream has ended: what is left is its last fragment.
  mutating func finish() -> [LineAssembler.Run] { assembler.finish() }
}

extension JobStore {
  /// Commits what of `runs` no other client has committed; the offset after them, or nil when the
  /// store does not stand where they could follow.
  func commitRest(
    of runs: [LineAssembler.Run], to id: JobID, _ stream: JobStream, generation: Int
  ) throws(StoreError) -> ByteOffset? {
    var rest = runs
    while let first = rest.first {
      switch try commit(rest, to: id, stream, generation: generation, at: first.offset) {
      case .committed(let through): return through
      case .conflict(let position):
        guard position.generation == generation, position.offset > first.offset else { return nil }
        rest = LineAssembler.Run.remaining(of: rest, after: position.offset)
      }
    }
    return runs.last?.end
  }

  /// The job, which the caller knows to exist.
  func knownJob(_ id: JobID) throws(StoreError) -> Job {
    guard let job = try job(id) else { throw .noSuchJob(id.description) }
    return job
  }
}
