/// What follows on a launch's stdin after `ready`: request file, prompt, secrets and the
/// watcher's script end to end.
public struct JobPayload: Sendable, Hashable {
  /// The request file.
  public let requestBytes: [UInt8]
  /// The prompt.
  public let promptBytes: [UInt8]
  /// `NAME=VALUE` for each secret, each ended by a NUL. Never to be stored or shown.
  public let secretBytes: [UInt8]
  /// The script of the watcher that holds the job to its limits; none without limits.
  public let watchBytes: [UInt8]

  /// All four end to end.
  public var bytes: [UInt8] { requestBytes + promptBytes + secretBytes + watchBytes }

  /// The line that announces them, with its line end: the four lengths in bytes and the checksum
  /// over all (docs/remote-protocol.md, Launch).
  public func header(nonce: String) -> [UInt8] {
    var checksum = PosixChecksum()
    for part in [requestBytes, promptBytes, secretBytes, watchBytes] { checksum.update(part) }
    let lengths =
      "\(requestBytes.count) \(promptBytes.count) \(secretBytes.count) \(watchBytes.count)"
    return Array("\(nonce) payload \(lengths) \(checksum.value)\n".utf8)
  }
}

extension JobRequest {
  /// The payload that carries this request, made at `created` (seconds since 1970), with the values
  /// of exactly the variables that `environmentNames` names, in that order, and with the script that
  /// holds the job to its limits.
  public func payload(
    created: Int64, secrets: [(name: String, value: [UInt8])] = [], watchScript: String
  ) throws(RequestError) -> JobPayload {
    try validate()
    guard secrets.map(\.name) == environmentNames else {
      throw .secretsDiffer(named: environmentNames, given: secrets.map(\.name))
    }
    var secretBytes: [UInt8] = []
    for secret in secrets {
      // The value itself must not turn up in an error.
      guard !secret.value.contains(0) else { throw .containsNUL(secret.name) }
      secretBytes += Array("\(secret.name)=".utf8) + secret.value + [0]
    }
    return JobPayload(
      requestBytes: requestFile(created: created), promptBytes: prompt, secretBytes: secretBytes,
      watchBytes: limits.isEmpty ? [] : Array(watchScript.utf8))
  }
}
