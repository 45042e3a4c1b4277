#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Asks the system's own ssh what its configuration says about a host: `ssh -G` resolves Include,
/// Match and canonical names exactly as the user's ssh does (about 4 ms).
enum ConfigurationProgram {
  /// `Match exec` runs commands of the user's, which may hang.
  private static let limit = Duration.seconds(5)

  static func configuration(
    of host: HostName, jumps: [HostName] = [], file: String?
  ) async throws(SSHError) -> HostConfiguration {
    try HostConfiguration(await values(of: host, jumps: jumps, file: file), host)
  }

  /// - Parameter jumps: the hops that a ProxyJump of a host behind this one names, as ssh's `-J`;
  ///   empty leaves it to this host's own configuration.
  static func values(
    of host: HostName, jumps: [HostName] = [], file: String?
  ) async throws(SSHError) -> ConfigurationValues {
    if file == nil, UserFiles.isTesting {
      throw SSHError(
        .configuration, .badConfiguration, host: host.text,
        "A test needs an ssh configuration file of its own "
          + "(\(UserFiles.testingVariable) is set)")
    }
    var arguments = ["-G"]
    if !jumps.isEmpty { arguments += ["-J", jumps.map(\.text).joined(separator: ",")] }
    arguments += host.sshArguments(file: file)
    let expired = failure("ssh -G did not answer within \(limit)", host)
    let answer = try await onOwnThread(deadline: limit + .seconds(1), expired: expired) {
      [arguments] in run(arguments, host)
    }
    return ConfigurationValues(answer, host: host.text)
  }

  private static func run(_ arguments: [String], _ host: HostName) -> Result<String, SSHError> {
    switch ChildProcess.run("ssh", arguments, limit: limit) {
    case .success(let output) where output.exitCode == 0:
      return .success(String(decoding: output.standardOutput, as: UTF8.self))
    case .success(let output):
      let words = saidLines(output.standardError).joined(separator: "; ")
      return .failure(failure("ssh does not accept its configuration: \(words)", host))
    case .failure(.cannotStart(let error)) where error.code == ENOENT:
      return .failure(
        SSHError(
          .configuration, .badConfiguration, host: host.text,
          "There is no `ssh` on your PATH, and only it can read your ssh_config",
          advice: "Install OpenSSH's client"))
    case .failure(.cannotStart(let error)):
      return .failure(failure("Cannot start ssh: \(error.words)", host))
    case .failure(.timedOut):
      return .failure(failure("ssh -G did not end within \(limit)", host))
    case .failure(.killed(let signal)):
      return .failure(failure("ssh -G was killed by signal \(signal)", host))
    }
  }

  private static func failure(_ words: String, _ host: HostName) -> SSHError {
    SSHError(.configuration, .badConfiguration, host: host.text, words)
  }
}
