import JobModel
import JobStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandContext {
  /// Prints all late output of a job that is stored: each stream's behind a line that says what comes,
  /// or, for `--json`, in objects of its own, so that nobody takes it for the job's output.
  func printLate(of job: Job, in store: JobStore, asJSON: Bool) async throws {
    guard let exit = job.exit else { return }
    for stream in JobStream.allCases {
      var offset = exit.size(of: stream)
      guard let end = try await store.latePosition(of: job.id, stream), end > offset else {
        continue
      }
      if !asJSON {
        try await console.say(
          "\(stream.rawValue): \(end - offset) bytes that came after the end")
      }
      while offset < end {
        let rows = try await store.lateBytes(of: job.id, stream, from: offset)
        guard let last = rows.last else { break }
        for row in rows {
          if asJSON {
            try await console.write(JSONLine.bytes(of: LateLine(job.id, row)))
          } else if stream == .out {
            try await console.write(row.bytes)
          } else {
            try await console.writeErrors(row.bytes)
          }
        }
        offset = last.offset + last.bytes.count
      }
    }
  }
}

/// Late output as `--json` shows it: `{"late":{"base64":…,"id":…,"offset":…,"stream":…}}`.
private struct LateLine: Encodable {
  let late: Late

  struct Late: Encodable {
    let id: String
    let stream: String
    let offset: Int64
    let base64: String
  }

  init(_ id: JobID, _ row: LateBytes) {
    late = Late(
      id: id.description, stream: row.stream.rawValue, offset: row.offset.rawValue,
      base64: Data(row.bytes).base64EncodedString())
  }
}
