/// The program that makes the connection (ssh_config(5), ProxyCommand).
///
/// ssh lets the user's login shell run it; here it is `/bin/sh`, which every system has and whose
/// syntax is what ssh_config's readers expect.
struct ProxyCommand: Sendable {
  private let command: String
  private let configuration: HostConfiguration
  private let host: HostName

  private static let startPatience = Duration.seconds(10)

  /// - Parameter command: as `ssh -G` prints it: as it was written.
  init(_ command: String, _ configuration: HostConfiguration, _ host: HostName) {
    (self.command, self.configuration, self.host) = (command, configuration, host)
  }

  func start() async throws(SSHError) -> Route {
    // ssh's `-`: its own stdin and stdout are the connection.
    if command == "-" { throw refuse("ProxyCommand - needs a parent that gives the connection") }
    // With `exec`, as ssh does it, the shell is gone and the program itself is waited for.
    let tokens = ProxyTokens(configuration, host)
    let script = "exec " + (try tokens.expand(command, of: "ProxyCommand"))
    let host = host.text
    let expired = SSHError(
      .connect, .timedOut, host: host,
      "The ProxyCommand did not start within \(Self.startPatience)")
    return try await onOwnThread(
      deadline: Self.startPatience, expired: expired, unwanted: { $0.discard() }
    ) {
      ProxyProcess.start(["/bin/sh", "-c", script]).mapError {
        SSHError(
          .connect, .badConfiguration, host: host,
          "The ProxyCommand does not start: \($0.words)")
      }
    }
  }

  private func refuse(_ words: String) -> SSHError {
    SSHError(.configuration, .badConfiguration, host: host.text, words)
  }
}
