import JobModel
import PocketKit

extension CommandContext {
  /// The values that `--env` and `--env-file` name, in the order of their first mention; of two
  /// values for one name the later counts. They are kept nowhere.
  func secrets(_ invocation: Invocation) throws -> Secrets {
    var secrets: Secrets = []
    func set(_ name: String, _ value: [UInt8]) {
      secrets.removeAll { $0.name == name }
      secrets.append((name, value))
    }
    for word in invocation[Keys.envFile] {
      let path = word.shown.hasPrefix("/") ? word.shown : "\(workingDirectory)/\(word.shown)"
      for (name, value) in try Self.assignments(in: FileBytes.of(path), path: path) {
        set(name, value)
      }
    }
    for word in invocation[Keys.env] {
      let name = word.shown
      guard JobRequest.isEnvironmentName(name) else {
        throw UsageError(
          "'\(printable(name))' is no name of an environment variable",
          hint: "--env takes a name only: the value is the one set here")
      }
      guard let value = environment.bytes(of: name) else {
        throw UsageError("\(name) is not set here, so --env has nothing to send")
      }
      set(name, value)
    }
    return secrets
  }

  /// The `NAME=VALUE` lines of a file. A value is taken as it stands: no quotes, no expansion.
  /// Blank lines and lines that begin with `#` are passed over.
  static func assignments(
    in bytes: [UInt8], path: String
  ) throws(CommandError) -> [(name: String, value: [UInt8])] {
    var found: [(name: String, value: [UInt8])] = []
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }),
        first != UInt8(ascii: "#")
      else { continue }
      let parts = line.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: parts[0], as: UTF8.self)
      guard parts.count == 2, JobRequest.isEnvironmentName(name) else {
        // The line itself may hold a secret, and must not be shown.
        throw CommandError(
          "env-file", "\(path): line \(index + 1) is not NAME=VALUE", exit: .usage)
      }
      var value = Array(parts[1])
      if value.last == 0x0D { value.removeLast() }
      found.append((name, value))
    }
    return found
  }
}
