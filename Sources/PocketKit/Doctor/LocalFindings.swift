import JobStore
import SSHClient

/// What doctor has to say of the machine that it runs on. Pure: what there is, is given.
enum LocalFindings {
  static func sqlite(version: String, hasWALResetBug: Bool) -> Finding {
    guard hasWALResetBug else { return Finding("SQLite", .ok, version) }
    return Finding(
      "SQLite", .ok,
      "\(version), by its number with the WAL-reset bug; among pockets their lock prevents it")
  }

  static func libssh2(version: String, isTested: Bool, faults: [String]) -> Finding {
    let words = ([version] + faults).joined(separator: "; ")
    if isTested { return Finding("libssh2", .ok, words) }
    return Finding(
      "libssh2", .warning, "\(words); Pocket is tested with 1.10.0 and 1.11.1",
      remedy: "where it fails, --transport openssh goes without it")
  }

  static func ssh(name: String?) -> Finding {
    if let name { return Finding("ssh", .ok, name) }
    return Finding(
      "ssh", .warning, "there is none on your PATH: your ssh_config cannot be read",
      remedy: "install OpenSSH's client")
  }

  static func store(_ health: StoreHealth) -> [Finding] {
    let jobs = health.jobs == 1 ? "1 job" : "\(health.jobs) jobs"
    let words = "\(health.path), \(byteCount(health.bytes)), \(jobs)"
    guard health.faults.isEmpty else {
      return [
        Finding(
          "store", .failure, "\(words), is damaged: \(health.faults.joined(separator: "; "))",
          remedy: "keep a copy of the file, and try `sqlite3 FILE .recover`")
      ]
    }
    return [Finding("store", .ok, "\(words), quick_check finds nothing wrong")]
      + [disk(of: health)]
  }

  private static func disk(of health: StoreHealth) -> Finding {
    guard let free = health.freeBytes else {
      return .unknown("disk here", "the system did not say")
    }
    let words = "\(byteCount(free)) are free where the store lies"
    switch free {
    case ..<(16 << 20):
      return Finding(
        "disk here", .failure, words, remedy: "make room, or no output can be taken in")
    case ..<(1 << 30):
      return Finding("disk here", .warning, words, remedy: "make room: all output is kept there")
    default: return Finding("disk here", .ok, words)
    }
  }

  /// Nothing has been stored yet.
  static func noStore(at path: String) -> Finding {
    Finding("store", .ok, "\(path) is not there yet; the first job makes it")
  }

  /// The store cannot be used; the error says what to do.
  static func store(_ error: StoreError) -> Finding {
    Finding("store", .failure, "\(error)")
  }
}
