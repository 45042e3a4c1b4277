import SSHClient
import TestSupport

/// A server that is reached through two others, each with host key, client key and known hosts of
/// its own: `far` behind `second` behind `first`.
struct Journey: Sendable {
  let first: LoopbackServer
  let second: LoopbackServer
  let far: LoopbackServer
  /// A configuration that includes those of the three.
  let configuration: String

  var servers: [LoopbackServer] { [first, second, far] }

  /// Adds another way to a server; its lines come before all others.
  func addHost(_ alias: String, _ server: LoopbackServer, _ lines: [String]) throws {
    try server.addHost(alias, port: server.port, configuration: lines)
  }

  func connector(
    _ alias: String = "far", onPhase: @escaping @Sendable (ConnectionPhase) -> Void = { _ in }
  ) throws(SSHError) -> SSHConnector {
    precondition(isMarkedAsTest)
    return try SSHConnector(
      host: alias,
      options: ConnectionOptions(
        engine: .libssh2, configurationFile: configuration, onPhase: onPhase))
  }

  func connectionsAreGone() throws -> Bool {
    try servers.allSatisfy { try $0.connections().isEmpty }
  }
}

func withJourney<Result: Sendable>(
  firstServer: [String] = [], isolation: isolated (any Actor)? = #isolation,
  _ body: (Journey) async throws -> Result
) async throws -> Result {
  var first = LoopbackServer.Options()
  (first.alias, first.hostKeyTypes, first.clientKeyType) = ("first", ["ecdsa"], "ecdsa")
  first.serverConfiguration = firstServer
  var second = LoopbackServer.Options()
  second.alias = "second"
  var far = LoopbackServer.Options()
  (far.alias, far.clientConfiguration) = ("far", ["ProxyJump first,second"])
  return try await withLoopbackServer(first) { first in
    try await withLoopbackServer(second) { second in
      try await withLoopbackServer(far) { far in
        let includes = [first, second, far].map { "Include \($0.sshConfiguration)\n" }.joined()
        return try await body(
          Journey(
            first: first, second: second, far: far,
            configuration: try far.folder.write("journey", includes)))
      }
    }
  }
}
