/// What is to be run: all that makes two requests the same one, and no secrets.
public struct JobRequest: Sendable, Hashable {
  /// The agent's name (`claude`, `codex`), or nil for a plain command.
  public var agent: String?
  /// The name that the user gave the job, if any.
  public var name: String?
  /// Where the command runs, as the host's bytes; nil is the remote home.
  public var workingDirectory: [UInt8]?
  /// The command: the program first, then its arguments. Never empty, never with a NUL.
  public var arguments: [[UInt8]]
  /// The names of the variables whose values are sent beside the request, as secrets.
  public var environmentNames: [String]
  /// Whether stdin is the prompt; else it is /dev/null.
  public var readsPrompt: Bool
  /// Whether the command is wrapped in `stdbuf -oL` where the host has it.
  public var lineBuffered: Bool
  /// The prompt's bytes; empty when there is none.
  public var prompt: [UInt8]
  /// What the host holds the job to.
  public var limits: JobLimits

  /// A request to run `arguments`.
  public init(
    agent: String? = nil, name: String? = nil, workingDirectory: [UInt8]? = nil,
    arguments: [[UInt8]], environmentNames: [String] = [], readsPrompt: Bool = false,
    lineBuffered: Bool = false, prompt: [UInt8] = [], limits: JobLimits = JobLimits()
  ) {
    self.agent = agent
    self.name = name
    self.workingDirectory = workingDirectory
    self.arguments = arguments
    self.environmentNames = environmentNames
    self.readsPrompt = readsPrompt
    self.lineBuffered = lineBuffered
    self.prompt = prompt
    self.limits = limits
  }

  /// SHA-256 over what is to be run, 64 hexadecimal digits. Two launches with one id must agree in
  /// it. Neither name, times, nonces nor secrets are in it. Each part goes in with its length ahead,
  /// so that no two requests give the same bytes.
  public var digest: String {
    var parts: [[UInt8]?] = [Array("1".utf8), agent.map { Array($0.utf8) }, workingDirectory]
    parts.append(Array(String(arguments.count).utf8))
    parts += arguments.map { $0 }
    parts.append(Array(String(environmentNames.count).utf8))
    parts += environmentNames.map { Array($0.utf8) }
    parts.append(Array((readsPrompt ? "prompt" : "null").utf8))
    parts.append(Array((lineBuffered ? "line" : "default").utf8))
    parts.append(prompt)
    // Nothing without limits: there were none when the first jobs were made.
    parts += limits.lines.map { Array($0.utf8) }
    var hasher = SHA256Hasher()
    for part in parts {
      hasher.update(Array((part.map { "\($0.count):" } ?? "-").utf8))
      if let part { hasher.update(part) }
    }
    return hasher.finalize()
  }

  /// One line to know the job by: the prompt's first line that is not blank, else the command.
  /// At most 200 characters; bytes that are not UTF-8 are shown as U+FFFD. It is for display only,
  /// and may hold control characters.
  public var title: String {
    for line in prompt.split(separator: 0x0A) where line.contains(where: { $0 > 0x20 }) {
      let start = line.firstIndex { $0 > 0x20 } ?? line.startIndex
      return String(String(decoding: line[start...].prefix(1600), as: UTF8.self).prefix(200))
    }
    let command = arguments.map { String(decoding: $0.prefix(1600), as: UTF8.self) }
    return String(command.joined(separator: " ").prefix(200))
  }

  /// Refuses what could not be run, or could not be written down without changing its meaning.
  public func validate() throws(RequestError) {
    guard !arguments.isEmpty, !arguments[0].isEmpty else { throw .noCommand }
    for part in arguments + [workingDirectory ?? []] where part.contains(0) {
      throw .containsNUL(String(decoding: part, as: UTF8.self))
    }
    for name in environmentNames where !Self.isEnvironmentName(name) {
      throw .badEnvironmentName(name)
    }
    if let name, !Self.isJobName(name) { throw .badName(name) }
    guard limits.isValid else { throw .badLimits(limits) }
  }

  /// Whether a name can be given to a job: `[A-Za-z0-9._-]{1,64}` and not shaped like an id.
  public static func isJobName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && JobID(name) == nil
      && name.utf8.allSatisfy { isAlphanumeric($0) || [0x2E, 0x5F, 0x2D].contains($0) }
  }

  /// Whether a name can be that of an environment variable (POSIX.1-2017, 8.1).
  public static func isEnvironmentName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x5F }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}

/// Why a request cannot be sent.
public enum RequestError: Error, Sendable, Hashable {
  /// There is no program to run.
  case noCommand
  /// An argument, the directory or a secret holds a NUL byte, which no program can be given.
  case containsNUL(String)
  /// This cannot be the name of an environment variable.
  case badEnvironmentName(String)
  /// This cannot be the name of a job.
  case badName(String)
  /// These limits are no numbers that a host could count to.
  case badLimits(JobLimits)
  /// The secrets that are to be sent are not the ones that the request names.
  case secretsDiffer(named: [String], given: [String])
}

extension RequestError: CustomStringConvertible {
  /// What is wrong and what to do, for people.
  public var description: String {
    switch self {
    case .noCommand: "There is no command to run."
    case .containsNUL(let text):
      "A NUL byte cannot be passed to a program; one is in \"\(text.prefix(80))\"."
    case .badEnvironmentName(let name):
      "\"\(name)\" cannot be the name of an environment variable: use letters, digits and _."
    case .badName(let name):
      "\"\(name)\" cannot be the name of a job: use 1 to 64 of A-Z a-z 0-9 . _ - and do not write"
        + " it like a job's id (12 small letters and digits)."
    case .badLimits(let limits):
      "No host can hold a job to \(limits.lines.joined(separator: " ")): give 1 second to 100 years,"
        + " and 1 byte to 1000 TB."
    case .secretsDiffer(let named, let given):
      "The request names the variables \(named.joined(separator: " ")), but values were given for"
        + " \(given.joined(separator: " "))."
    }
  }
}
