#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One process as `/proc` shows it (Linux only; tests that need it do not run elsewhere).
package struct ProcessEntry: Sendable, Equatable {
  package let pid: Int32
  package let parent: Int32
  package let group: Int32
  package let session: Int32
  /// The state's letter (proc(5)): `R`, `S`, `D`, `T`, `Z` and so on.
  package let state: Character

  /// A zombie has ended; only its parent has not asked yet.
  package var isAlive: Bool { state != "Z" && state != "X" }

  /// The process with this id, or nil.
  package init?(pid: Int32) {
    // The name, in parentheses, may hold spaces and parentheses; what follows the last one cannot.
    guard let text = try? readText("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 3, let parent = Int32(fields[1]), let group = Int32(fields[2]),
      let session = Int32(fields[3]), let state = fields[0].first
    else { return nil }
    (self.pid, self.parent, self.group, self.session) = (pid, parent, group, session)
    self.state = state
  }

  /// All processes there are now.
  package static func all() throws -> [ProcessEntry] {
    guard fileExists("/proc/self/stat") else { throw SystemError("look at /proc", ENOTSUP) }
    return namesInFolder("/proc").compactMap { Int32($0) }.compactMap { ProcessEntry(pid: $0) }
  }

  /// The living processes whose environment at their start held `variable` (`NAME=VALUE`, whole),
  /// this one excepted.
  package static func carrying(_ variable: String) throws -> [ProcessEntry] {
    try all().filter { $0.isAlive && $0.pid != getpid() && $0.environment.contains(variable) }
  }

  /// The environment at the process's start (proc(5)); empty where it cannot be read.
  package var environment: Set<String> { Set(strings(in: "environ")) }
  /// The arguments; empty where they cannot be read, and for a zombie.
  package var arguments: [String] { strings(in: "cmdline") }

  private func strings(in file: String) -> [String] {
    guard let bytes = try? readFile("/proc/\(pid)/\(file)") else { return [] }
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }
}
