/// The way to a host's sshd: a stream socket, connected.
struct Route: Sendable {
  /// Owned by whoever takes the route.
  let socket: Int32

  private static let resolvePatience = Duration.seconds(10)
  private static let connectPatience = Duration.seconds(15)

  static func open(
    _ configuration: HostConfiguration, host: HostName, options: ConnectionOptions
  ) async throws(SSHError) -> Route {
    let dialer = Dialer(
      host: host.text, name: configuration.hostName, port: configuration.port,
      family: configuration.addressFamily)
    options.onPhase(.resolving)
    let addresses = try await dialer.resolve(deadline: resolvePatience)
    options.onPhase(.connecting)
    return Route(
      socket: try await dialer.connect(
        addresses, deadline: configuration.connectTimeout ?? connectPatience))
  }
}
