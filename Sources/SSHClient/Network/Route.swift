/// The way to a host's sshd: a stream socket, connected.
struct Route: Sendable {
  /// Owned by whoever takes the route.
  let socket: Int32
  /// Where the bytes go: a numeric address with its port, or what they go through.
  let way: String
  /// The other end's numeric address, where the socket is a TCP connection of our own.
  var address: String?
  /// What carries the bytes, where it is not.
  var carrier: (any Carrier)?

  /// How long one address, or a hop, has to connect when ConnectTimeout is not set.
  static let patience = Duration.seconds(15)
  private static let resolvePatience = Duration.seconds(10)

  /// - Parameter hop: the connection that carries this one, if ProxyJump is set.
  static func open(
    _ configuration: HostConfiguration, host: HostName, hop: Hop?, options: ConnectionOptions
  ) async throws(SSHError) -> Route {
    let network = configuration.network
    if let hop {
      return try await hop.route(
        to: configuration.hostName, port: configuration.port, for: host.text,
        deadline: network.connectTimeout ?? patience)
    }
    if case .command(let command) = network.proxy {
      options.onPhase(.connecting)
      return try await ProxyCommand(command, configuration, host).start()
    }
    let dialer = Dialer(
      host: host.text, name: configuration.hostName, port: configuration.port, network: network)
    options.onPhase(.resolving)
    let addresses = try await dialer.resolve(deadline: resolvePatience)
    options.onPhase(.connecting)
    let found = try await dialer.connect(
      addresses, deadline: network.connectTimeout ?? patience)
    return Route(
      socket: found.socket, way: found.address.description,
      address: found.address.isLoopback ? nil : found.address.host)
  }

  /// Closes a route that nobody took over.
  func discard() {
    closeDescriptor(socket)
    carrier?.end(isWished: true)
  }
}
