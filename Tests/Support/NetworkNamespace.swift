/// A network of its own with nothing but a loopback in it, whose cable can be pulled: then the kernel
/// drops every packet, and neither end is told. It ends with this object, and with this process
/// however that dies; what runs in there goes on without a network's name.
package final class NetworkNamespace: Sendable {
  private let holder: Daemon
  private let pid: Int32

  /// Makes one, whose loopback works. Needs `Namespaces.arePossible`.
  package static func make() async throws -> NetworkNamespace {
    let holder = try Daemon("unshare", ["--net", "sleep", "infinity"])
    try await waitUntil("a network namespace") {
      guard let pid = holder.pid else { return false }
      return ProcessEntry(pid: pid)?.arguments.first == "sleep"
    }
    guard let pid = holder.pid else { throw SystemError("unshare --net") }
    let namespace = NetworkNamespace(holder, pid)
    try await namespace.setCable(plugged: true)
    return namespace
  }

  private init(_ holder: Daemon, _ pid: Int32) { (self.holder, self.pid) = (holder, pid) }

  deinit { holder.end() }

  /// Whether packets go from one program in there to another.
  package func setCable(plugged: Bool) async throws {
    try await inside(
      Command("ip", ["link", "set", "lo", plugged ? "up" : "down"], environment: Self.systemPath)
    ).succeed()
  }

  /// The same command, with this network.
  package func inside(_ command: Command) -> Command {
    var inside = command
    inside.program = launcher[0]
    inside.arguments = launcher.dropFirst() + [command.program] + command.arguments
    return inside
  }

  /// For `LoopbackServer.Options`: sshd is then reached by commands `inside` alone.
  package var launcher: [String] { ["nsenter", "--net=/proc/\(pid)/ns/net"] }

  private static let systemPath = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
}
