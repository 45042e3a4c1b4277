/// What ssh_config says about the way to a host.
struct NetworkSettings: Sendable, Equatable {
  enum AddressFamily: Sendable { case any, inet, inet6 }

  /// What stands between this machine and the host.
  enum Proxy: Sendable, Equatable {
    case none
    /// ProxyJump: the hops in the order in which they are passed, each as it was written.
    case jump([String])
    /// As it was written, with its tokens.
    case command(String)
  }

  var addressFamily = AddressFamily.any
  /// nil leaves each phase its own patience.
  var connectTimeout: Duration?
  /// At least 1.
  var attempts = 1
  var keepsTCPAlive = true
  var bindAddress: String?
  var bindInterface: String?
  var proxy = Proxy.none
  /// ServerAliveInterval; nil when it is not set.
  var aliveInterval: Duration?
  var aliveCount = 3

  init() {}

  /// - Throws: `SSHError` kind `.badConfiguration` for what only ssh can do.
  init(_ values: ConfigurationValues) throws(SSHError) {
    addressFamily =
      switch values["addressfamily"] {
      case "inet": .inet
      case "inet6": .inet6
      default: .any
      }
    // As ssh: 0 is as if it were not set.
    connectTimeout = values.number("connecttimeout").flatMap { $0 > 0 ? .seconds($0) : nil }
    attempts = max(1, values.number("connectionattempts") ?? 1)
    keepsTCPAlive = values.flag("tcpkeepalive", default: true)
    bindAddress = values["bindaddress"]
    bindInterface = values["bindinterface"]
    aliveInterval = values.number("serveraliveinterval").flatMap { $0 > 0 ? .seconds($0) : nil }
    aliveCount = values.number("serveralivecountmax") ?? 3
    // `ssh -G` prints at most one of the two: the one that came first in the configuration.
    if let jump = values["proxyjump"], jump != "none" {
      proxy = .jump(jump.split(separator: ",").map(String.init))
    } else if let command = values["proxycommand"], command != "none" {
      if values.flag("proxyusefdpass") {
        throw values.beyondLibSSH2("ProxyUseFdpass", values["proxyusefdpass"])
      }
      proxy = .command(command)
    }
  }
}
