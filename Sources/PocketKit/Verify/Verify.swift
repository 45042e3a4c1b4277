import JobModel
import JobStore

/// One stream, here and at the host.
public struct StreamVerification: Sendable {
  /// Which stream.
  public var stream: JobStream
  /// The newest generation; earlier ones are no longer at the host.
  public var generation: Int
  /// How many bytes were compared.
  public var bytes: ByteOffset
  /// SHA-256 of what the store holds.
  public var storedDigest: String
  /// SHA-256 of the host's file up to there; nil when the host could not say.
  public var hostDigest: String?
  /// The host's file size, in bytes.
  public var hostSize: ByteOffset
  /// The size in the exit record, once there is one.
  public var recordedSize: ByteOffset?

  /// Whether the bytes are the same, and all of them if the job has ended.
  public var isEqual: Bool {
    storedDigest == hostDigest && (recordedSize.map { $0 == bytes } ?? true)
  }
  /// Bytes that came after the exit record. They are no part of what is compared.
  public var lateBytes: Int { recordedSize.map { max(0, hostSize - $0) } ?? 0 }
  /// How many of them were taken in.
  public var lateBytesTaken: Int
}

/// The comparison of a job's stored output with the host's files.
public struct Verification: Sendable {
  /// Both streams, `out` first.
  public var streams: [StreamVerification]

  /// Whether both streams are equal.
  public var isEqual: Bool { streams.allSatisfy(\.isEqual) }
  /// Whether output was lost at the host before it could be read: earlier generations exist.
  public var hasGaps: Bool { streams.contains { $0.generation > 0 } }
}

extension JobClient {
  /// Compares byte counts and SHA-256 of both streams, stored and at the host: up to the exit
  /// record's sizes, or up to the committed offset while the job runs. Nothing is transferred.
  public func verify(_ id: JobID) async throws(JobError) -> Verification {
    try await wrapped {
      var stored: [JobStream: (position: StreamPosition, digest: String)] = [:]
      for stream in JobStream.allCases {
        let position = try await store.position(of: id, stream)
        let (bytes, digest) = try await store.prefixDigest(
          of: id, stream, generation: position.generation)
        stored[stream] = (
          StreamPosition(generation: position.generation, offset: bytes), digest
        )
      }
      let inspection = try await inspect(id, digesting: stored.mapValues { $0.position.offset })
      let record = inspection.evidence.exit
      let job = try await store.knownJob(id)
      return Verification(
        streams: JobStream.allCases.compactMap { stream in
          guard let (position, digest) = stored[stream] else { return nil }
          return StreamVerification(
            stream: stream, generation: position.generation, bytes: position.offset,
            storedDigest: digest, hostDigest: inspection.digests[stream],
            hostSize: inspection.sizes[stream] ?? .zero, recordedSize: record?.size(of: stream),
            lateBytesTaken: Int(stream == .out ? job.lateOutTaken : job.lateErrTaken))
        })
    }
  }
}
