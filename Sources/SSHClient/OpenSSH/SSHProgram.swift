/// The system's `ssh`, found on PATH: which one it is, and what its configuration says of a host.
struct SSHProgram: Sendable {
  /// As it names itself: `OpenSSH_9.2p1`.
  let name: String
  private let version: (major: Int, minor: Int)

  private static let limit = Duration.seconds(5)

  /// nil when there is no `ssh`, or one that is not OpenSSH.
  static func find(host: HostName) async throws(SSHError) -> SSHProgram? {
    let answer = try await run(["-V"], host)
    guard let answer else { return nil }
    // It has said so on stderr from the beginning.
    return SSHProgram(banner: String(decoding: answer.standardError, as: UTF8.self))
  }

  /// - Parameter banner: the answer to `ssh -V`: `OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.11 …`.
  init?(banner: String) {
    guard let name = banner.split(whereSeparator: { " ,\n".contains($0) }).first,
      name.hasPrefix("OpenSSH_")
    else { return nil }
    let numbers = name.dropFirst("OpenSSH_".count).split(separator: ".", maxSplits: 1)
    guard numbers.count == 2, let major = Int(numbers[0]),
      let minor = Int(numbers[1].prefix { $0.isNumber })
    else { return nil }
    self.name = String(name)
    version = (major, minor)
  }

  /// Whether options that came with this version may be given: an older one refuses to start.
  func isAtLeast(_ major: Int, _ minor: Int) -> Bool { version >= (major, minor) }

  /// What `ssh -G` says of the host: for each keyword in lower case all of its values.
  func settings(
    of host: HostName, file: String?
  ) async throws(SSHError) -> [String: [String]] {
    if file == nil, UserFiles.isTesting {
      throw Self.failure(
        "A test needs an ssh configuration file of its own (\(UserFiles.testingVariable) is set)",
        host)
    }
    let arguments = ["-G"] + Self.destination(host, file: file)
    guard let answer = try await Self.run(arguments, host) else {
      throw Self.failure("Cannot start ssh", host)
    }
    guard answer.exitCode == 0 else {
      let words = String(decoding: answer.standardError, as: UTF8.self)
        .split(separator: "\n").joined(separator: "; ")
      throw Self.failure("ssh does not accept its configuration: \(words)", host)
    }
    var settings: [String: [String]] = [:]
    for line in String(decoding: answer.standardOutput, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { continue }
      settings[parts[0].lowercased(), default: []].append(String(parts[1]))
    }
    try Self.refuseUsersOwnFiles(settings, host)
    return settings
  }

  /// The arguments that name a host. What follows `--` is never an option, whatever it looks like.
  static func destination(_ host: HostName, file: String?) -> [String] {
    var arguments: [String] = []
    if let file { arguments += ["-F", file] }
    if let port = host.port { arguments += ["-p", String(port)] }
    if let user = host.user { arguments += ["-l", user] }
    return arguments + ["--", host.name]
  }

  /// In a test: `ssh` itself would not ask whether it may.
  private static func refuseUsersOwnFiles(
    _ settings: [String: [String]], _ host: HostName
  ) throws(SSHError) {
    let files =
      settings["identityfile", default: []]
      + settings["userknownhostsfile", default: []].flatMap {
        $0.split(separator: " ").map(String.init)
      }
    for file in files {
      let path = file.hasPrefix("~/") ? UserFiles.home + file.dropFirst(1) : file
      try UserFiles.check(path, host: host.text)
    }
  }

  /// nil when there is no such program.
  private static func run(
    _ arguments: [String], _ host: HostName
  ) async throws(SSHError) -> ChildProcess.Output? {
    let expired = failure("ssh \(arguments[0]) did not end within \(limit)", host)
    return try await onOwnThread(deadline: limit + .seconds(1), expired: expired) {
      switch ChildProcess.run("ssh", arguments, limit: limit) {
      case .success(let output): .success(output)
      case .failure(.cannotStart): .success(nil)
      case .failure(.timedOut): .failure(expired)
      case .failure(.killed(let signal)):
        .failure(failure("ssh \(arguments[0]) was killed by signal \(signal)", host))
      }
    }
  }

  private static func failure(_ words: String, _ host: HostName) -> SSHError {
    SSHError(.configuration, .badConfiguration, host: host.text, words)
  }
}
