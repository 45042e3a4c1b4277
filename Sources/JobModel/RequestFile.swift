#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file `request` of a job directory: text, one `key=value` a line; what may hold any byte is
/// base64. The prompt lies in a file of its own beside it.
public struct RequestFile: Sendable, Hashable {
  /// The request; its prompt is empty when the file was read.
  public var request: JobRequest
  /// The digest that was computed when the prompt was at hand.
  public var digest: String
  /// When the job was made, in seconds since 1970 by the client's clock.
  public var created: Int64

  /// The file for `request`, made at `created` (seconds since 1970).
  public init(_ request: JobRequest, created: Int64) {
    self.request = request
    self.created = created
    digest = request.digest
  }

  /// The file's bytes.
  public var bytes: [UInt8] {
    var lines = [
      "digest=\(digest)", "v=1", "created=\(created)",
      "agent=\(Self.encode(request.agent.map { Array($0.utf8) }))",
      "name=\(Self.encode(request.name.map { Array($0.utf8) }))",
      "stdin=\(request.readsPrompt ? "prompt" : "null")",
      "buffering=\(request.lineBuffered ? "line" : "default")",
      "cwd=\(Self.encode(request.workingDirectory))",
    ]
    lines += request.arguments.map { "arg=\(Self.encode($0))" }
    lines += request.environmentNames.map { "env=\($0)" }
    lines += request.limits.lines
    lines.append("end=1")
    return lines.flatMap { Array($0.utf8) + [0x0A] }
  }

  /// Reads a file; nil when it is not whole, not of version 1, or not well formed. Unknown keys are
  /// passed over.
  public init?(_ bytes: [UInt8]) {
    var single: [String: String] = [:]
    var arguments: [[UInt8]] = []
    var environmentNames: [String] = []
    var ended = false
    for line in bytes.split(separator: 0x0A) {
      guard !ended, let mark = line.firstIndex(of: 0x3D) else { return nil }
      let key = String(decoding: line[..<mark], as: UTF8.self)
      let value = String(decoding: line[line.index(after: mark)...], as: UTF8.self)
      switch key {
      case "arg":
        guard let argument = Self.decode(value) else { return nil }
        arguments.append(argument)
      case "env": environmentNames.append(value)
      case "end": ended = true
      default: single[key] = value
      }
    }
    guard ended, bytes.last == 0x0A, single["v"] == "1", let digest = single["digest"],
      digest.utf8.count == 64, let created = single["created"].flatMap({ Int64($0) }),
      let agent = single["agent"].flatMap(Self.decode),
      let name = single["name"].flatMap(Self.decode),
      let cwd = single["cwd"].flatMap(Self.decode), let stdin = single["stdin"],
      let buffering = single["buffering"], let limits = Self.limits(single)
    else { return nil }
    self.digest = digest
    self.created = created
    request = JobRequest(
      agent: agent.isEmpty ? nil : String(decoding: agent, as: UTF8.self),
      name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self),
      workingDirectory: cwd.isEmpty ? nil : cwd, arguments: arguments,
      environmentNames: environmentNames, readsPrompt: stdin == "prompt",
      lineBuffered: buffering == "line", limits: limits)
    do { try request.validate() } catch { return nil }
  }

  /// Nil when a limit is given that cannot be read: a job without it would be another one.
  private static func limits(_ values: [String: String]) -> JobLimits? {
    var limits = JobLimits()
    if let text = values["timeout"] {
      guard let seconds = Int64(text) else { return nil }
      limits.timeout = seconds
    }
    if let text = values["max_output"] {
      guard let bytes = Int64(text),
        let action = values["on_max_output"].flatMap({ JobLimits.OutputAction(rawValue: $0) })
      else { return nil }
      (limits.maxOutput, limits.onMaxOutput) = (bytes, action)
    }
    return limits
  }

  /// The format version that the bytes name, if any: a file that cannot be read may be of a newer one.
  public static func version(in bytes: [UInt8]) -> String? {
    bytes.split(separator: 0x0A).first { $0.starts(with: Array("v=".utf8)) }
      .map { String(decoding: $0.dropFirst(2), as: UTF8.self) }
  }

  private static func encode(_ bytes: [UInt8]?) -> String {
    Data(bytes ?? []).base64EncodedString()
  }

  static func decode(_ text: String) -> [UInt8]? {
    Data(base64Encoded: text).map { [UInt8]($0) }
  }
}

extension JobRequest {
  /// The bytes of the job directory's file `request`; `created` is in seconds since 1970.
  public func requestFile(created: Int64) -> [UInt8] { RequestFile(self, created: created).bytes }

  /// Reads a `request` file, as for adoption by another device. The prompt stays empty, so `digest`
  /// would be another one: `RequestFile` gives the digest that was recorded.
  public init?(requestFile: [UInt8]) {
    guard let file = RequestFile(requestFile) else { return nil }
    self = file.request
  }
}
