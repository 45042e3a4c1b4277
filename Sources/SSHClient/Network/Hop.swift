/// A connection to a host on the way (ssh_config(5), ProxyJump), for one channel to the next host.
///
/// It ends with the route that it carries. Until there is one, its owner must `close` it.
struct Hop: Sendable {
  let connection: SSHConnection
  let name: String
  /// How many connections carry the next one: this, and those below.
  let hops: Int

  /// A way from here to `name`, as `ssh -W` makes it.
  func route(
    to name: String, port: UInt16, for host: String, deadline: Duration
  ) async throws(SSHError) -> Route {
    let carrier = HopCarrier(name: self.name, hops: hops)
    let socket = try await connection.relay(
      to: name, port: port, for: host, carrier, deadline: deadline)
    return Route(socket: socket, way: "the hop \(self.name)", carrier: carrier)
  }

  func close() async { await connection.close() }
}

extension SSHError {
  /// The same for the user, who asked for `target` and meets the error at a hop.
  func onTheWay(to target: String) -> SSHError {
    var error = self
    error.host = target
    if host != target { error.message = "On the way, at the hop \(host): \(message)" }
    return error
  }
}
