import JobModel
import JobStore
import PocketKit

extension Command {
  static let verify = Command(
    "verify", summary: "Compare the stored output with the host's files.",
    examples: [
      Example("pocket verify @", "byte counts and SHA-256 of both streams")
    ],
    positionals: [Positional("job", .one, .job)],
    options: [Keys.json.spec, Keys.sshConfig.spec, Keys.transport.spec],
    notes: [
      """
      While the job runs, what is stored is compared; afterwards the whole, up to the sizes in the \
      job's exit record. Nothing is transferred.
      """,
      "Exit: 0 equal, 1 different, 3 equal but with gaps. To name a job: pocket\u{A0}help\u{A0}jobs",
    ]
  ) { invocation, context in
    let client = try await context.client(invocation)
    let job = try await client.store.resolve(invocation.positionals[0].shown)
    try await context.console.show(status: "asking \(job.host)…")
    let verification = try await client.verify(job.id)
    try await context.console.show(status: nil)
    for stream in verification.streams {
      let gaps = try await client.store.generations(of: job.id, stream.stream)
        .filter { $0.ended != nil }
      if invocation[Keys.json] {
        try await context.console.write(JSONLine.bytes(of: VerifyLine(job.id, stream, gaps)))
      } else {
        for line in lines(for: stream, gaps) { try await context.console.print(line) }
      }
    }
    guard verification.isEqual else { return .failure }
    return verification.hasGaps ? .gaps : .success
  }

  private static func lines(for stream: StreamVerification, _ gaps: [Generation]) -> [String] {
    var lines = gaps.compactMap { gap -> String? in
      guard let reason = gap.ended, let end = gap.endedAt else { return nil }
      return "\(stream.stream.rawValue)  gap: the file was \(reason.rawValue) at byte \(end)"
    }
    lines.append("\(stream.stream.rawValue)  \(stream.verdict)  sha256 \(stream.storedDigest)")
    if let digest = stream.hostDigest, digest != stream.storedDigest {
      lines.append("     the host's \(digest)")
    }
    if stream.lateBytes > 0 {
      let taken = stream.lateBytesTaken
      lines.append(
        "     \(size(Int64(stream.lateBytes))) came after the end, \(size(Int64(taken))) of them"
          + " taken in; they are not compared")
    }
    return lines
  }
}

extension StreamVerification {
  fileprivate var verdict: String {
    let stored = "\(bytes) bytes"
    if isEqual { return "equal, \(stored)" }
    if hostDigest == nil { return "not compared: the host has no program for SHA-256; \(stored)" }
    if let recordedSize, recordedSize != bytes { return "different: \(stored) of \(recordedSize)" }
    return "different, \(stored)"
  }
}

private struct VerifyLine: Encodable {
  let id: String
  let stream: String
  let equal: Bool
  let bytes: Int64
  let sha256: String
  let hostSha256: String?
  let lateBytes: Int
  let lateBytesTaken: Int
  let gaps: [Gap]

  struct Gap: Encodable {
    let generation: Int
    let reason: String?
    let at: Int64?
  }

  init(_ id: JobID, _ stream: StreamVerification, _ gaps: [Generation]) {
    self.id = id.description
    self.stream = stream.stream.rawValue
    equal = stream.isEqual
    bytes = stream.bytes.rawValue
    sha256 = stream.storedDigest
    hostSha256 = stream.hostDigest
    lateBytes = stream.lateBytes
    lateBytesTaken = stream.lateBytesTaken
    self.gaps = gaps.map {
      Gap(
        generation: $0.position.generation, reason: $0.ended?.rawValue, at: $0.endedAt?.rawValue)
    }
  }
}
