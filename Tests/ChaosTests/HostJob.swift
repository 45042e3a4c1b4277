import JobModel
import TestSupport

/// A process by what tells it from a later one with the same number.
struct ProcessIdentity: Hashable, Sendable {
  let pid: Int32
  /// Its start time (proc(5), field 22).
  let birth: String

  /// The living process with this number, or nil.
  init?(alive pid: Int32) {
    guard let entry = ProcessEntry(pid: pid), entry.isAlive,
      let text = try? readText("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19 else { return nil }
    self.init(pid: pid, birth: String(fields[19]))
  }

  init(pid: Int32, birth: String) { (self.pid, self.birth) = (pid, birth) }

  var isAlive: Bool { ProcessIdentity(alive: pid) == self }
}

/// What a job's directory says, read straight from the host's disk.
struct HostJob: Sendable {
  let folder: String
  /// The keys of `started`; nil without such a file.
  let started: [String: String]?
  /// The exit record, if there is a whole one.
  let exit: ExitRecord?

  /// Reads the directory `~/.pocket/jobs/<id>` below this home.
  init(_ id: JobID, home: String) {
    folder = "\(home)/.pocket/jobs/\(id)"
    var keys: [String: String]?
    if let text = try? readText("\(folder)/started") {
      keys = [:]
      for line in text.split(separator: "\n") {
        let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if pair.count == 2 { keys?[String(pair[0])] = String(pair[1]) }
      }
    }
    started = keys
    exit = (try? readText("\(folder)/exit")).flatMap { text in
      ExitRecord(text.split(separator: "\n", omittingEmptySubsequences: false).first ?? "")
    }
  }

  var leader: ProcessIdentity? { identity("pid", "birth") }
  var supervisor: ProcessIdentity? { identity("supervisor", "supervisor_birth") }
  var wasCancelledBeforeTheStart: Bool { started?["cancelled"] != nil }
  var wasRefused: Bool { started?["refused"] != nil }
  /// Whether the command was started and has not ended.
  var isRunning: Bool { exit == nil && leader?.isAlive == true }

  func file(_ stream: JobStream) -> String {
    folder + (stream == .out ? "/out.jsonl" : "/err.log")
  }

  private func identity(_ pid: String, _ birth: String) -> ProcessIdentity? {
    guard let number = started?[pid].flatMap({ Int32($0) }), let birth = started?[birth]
    else { return nil }
    return ProcessIdentity(pid: number, birth: birth)
  }
}
