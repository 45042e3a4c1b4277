import JobModel

/// A process on a host as `--json` shows it.
struct ProcessRecord: Encodable, Sendable {
  let pid: Int
  let group: Int?
  let command: String

  init(_ process: HostProcess) {
    (pid, group, command) = (process.pid, process.group, process.command)
  }
}

extension HostProcess {
  /// The process in a sentence.
  var label: String { command.isEmpty ? "\(pid)" : "\(pid) (\(command))" }
}
