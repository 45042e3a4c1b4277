import JobModel
import JobStore
import RemoteScripts
import SSHClient

extension JobClient {
  /// Takes in what was written to the streams after the job's end, up to what there is now: into rows
  /// of their own kind, outside the committed offset. What was taken in before is not read again.
  ///
  /// - Returns: how many bytes of each stream this call has taken in.
  /// - Throws: `JobError`; `.notOver` for a job whose end is not proved. What was taken in until then
  ///   stays.
  public func takeInLate(_ id: JobID) async throws(JobError) -> [JobStream: Int] {
    try await wrapped {
      let job = try await store.knownJob(id)
      var intakes: [JobStream: LateIntake] = [:]
      for stream in JobStream.allCases {
        guard let intake = try await LateIntake(of: stream, job: id, store: store) else {
          throw JobError.notOver(id, job.state)
        }
        intakes[stream] = intake
      }
      let taken = try await read(&intakes, of: job)
      try await store.setLateBytes(
        out: max(job.lateOut, intakes[.out]?.total ?? 0),
        err: max(job.lateErr, intakes[.err]?.total ?? 0), for: id)
      return taken
    }
  }

  private func read(
    _ intakes: inout [JobStream: LateIntake], of job: Job
  ) async throws -> [JobStream: Int] {
    let link = try await hosts.link(to: job.host)
    let arguments = JobStream.allCases.flatMap { intakes[$0]?.arguments ?? [] }
    var exchange = try await link.open(
      RemoteScript(.follow, [("id", job.id.description), ("late", "yes")] + arguments))
    let process = exchange.process
    return try await link.finishing(process) {
      let signs = process.signsOfLife()
      defer { signs.cancel() }
      var taken: [JobStream: Int] = [:]
      while let reply = try await exchange.next() {
        switch reply {
        case .evidence(let evidence):
          if evidence.machine == .other {
            throw JobError.hostFailed(
              host: job.host, .elsewhere, words: evidence.hostName ?? "another machine")
          }
          if evidence.directory != .present || evidence.start != .claimed {
            throw JobError.hostFailed(
              host: job.host, .missing, words: "its directory is not there any more")
          }
        case .frame(let frame):
          guard let intake = intakes[frame.stream], intake.isNext(frame) else {
            throw JobError.protocolBroken(
              host: job.host, "\(frame.stream.rawValue) changed while it was read; try again.")
          }
          guard
            try await store.commitLate(frame.bytes, to: job.id, frame.stream, at: frame.offset)
          else {
            throw JobError.protocolBroken(
              host: job.host, "Another client takes in the same output; try again.")
          }
          intakes[frame.stream]?.note(frame)
          taken[frame.stream, default: 0] += frame.bytes.count
        case .gap(let stream, _, let reason, _, _):
          throw JobError.protocolBroken(
            host: job.host,
            "\(stream.rawValue) was \(reason.rawValue) after the job's end, so that what came late"
              + " cannot be told from it.")
        default: break
        }
      }
      return taken
    }
  }
}

/// Where the intake of a stream's late output stands.
private struct LateIntake {
  private let stream: JobStream
  private let generation: Int
  private let recordedSize: ByteOffset
  private var offset: ByteOffset
  private var tail: [UInt8]

  /// Nil for a job whose end is not proved.
  init?(of stream: JobStream, job: JobID, store: JobStore) async throws {
    guard let offset = try await store.latePosition(of: job, stream) else { return nil }
    self.stream = stream
    self.offset = offset
    let position = try await store.position(of: job, stream)
    (generation, recordedSize) = (position.generation, position.offset)
    tail = try await store.lateTail(of: job, stream, before: offset)
  }

  /// Bytes beyond the exit record's size that were taken in by now.
  var total: Int64 { Int64(offset - recordedSize) }

  /// The arguments of the follow verb. No inode: the file may have been copied since.
  var arguments: [(name: String, value: String)] {
    let name = stream.rawValue
    let fingerprint = offset == .zero ? "-" : String(PosixChecksum.of(tail))
    return [
      ("\(name)_generation", String(generation)), ("\(name)_offset", offset.description),
      ("\(name)_inode", "-"), ("\(name)_fingerprint", fingerprint),
    ]
  }

  func isNext(_ frame: Frame) -> Bool {
    frame.generation == generation && frame.offset == offset && frame.isProved(after: tail)
  }

  mutating func note(_ frame: Frame) {
    offset = offset + frame.bytes.count
    tail = Array((tail + frame.bytes.suffix(512)).suffix(LineAssembler.fingerprintLength))
  }
}
