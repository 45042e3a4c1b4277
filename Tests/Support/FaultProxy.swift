#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A TCP proxy on 127.0.0.1 that counts bytes and breaks connections on demand, on a thread of its
/// own. It takes any number of connections, so that a client can come back after a cut.
package final class FaultProxy: Sendable {
  /// Which way bytes go.
  package enum Direction: Sendable, CaseIterable {
    case toServer
    case toClient
  }

  /// How both ends see the connection end.
  package enum Cut: Sendable {
    /// RST: what a rebooted router or a lost route looks like.
    case reset
    /// FIN: what an orderly close looks like.
    case finish
  }

  /// The port that the client is to connect to.
  package let port: UInt16
  private let control: Locked<FaultControl>
  private let wakeUp: WakeUp

  /// Listens at once, and connects to `server` (a port of 127.0.0.1) for each client.
  package init(server: UInt16) throws {
    let listener = try listenOnLoopback(port: 0)
    port = try localPort(of: listener)
    _ = fcntl(listener, F_SETFL, O_NONBLOCK)
    control = Locked(FaultControl())
    wakeUp = try WakeUp()
    let loop = FaultProxyLoop(listener: listener, server: server, control, wakeUp)
    startThread { loop.run() }
  }

  deinit { stop() }

  /// Bytes forwarded in this direction so far, over all connections.
  package func bytes(_ direction: Direction) -> Int { control.withLock { $0.total[direction]! } }
  /// Bytes forwarded in this direction since `arm()`; 0 before it.
  package func bytesSinceArmed(_ direction: Direction) -> Int {
    control.withLock { $0.sinceArmed[direction]! }
  }
  /// Where one read of the proxy ended and the next began, in bytes since `arm()`: each end of an
  /// SSH message that was sent by itself is among them.
  package func boundaries(_ direction: Direction) -> [Int] {
    control.withLock { $0.boundaries[direction]! }
  }
  /// How many connections were accepted so far.
  package var connectionCount: Int { control.withLock { $0.connectionCount } }
  /// How many connections were cut on purpose so far.
  package var cutCount: Int { control.withLock { $0.cutCount } }
  /// Whether a cut happened. A case that planned a cut and finds false here has tested nothing.
  package var didCut: Bool { cutCount > 0 }

  /// Plans a cut, one, of the connection that carries the byte which makes it `afterBytes` bytes in
  /// this direction since `arm()`. Exactly these bytes arrive; 0 cuts at `arm()` itself.
  package func cut(_ direction: Direction, afterBytes: Int, by cut: Cut = .reset) {
    control.withLock { $0.plan = .init(direction: direction, afterBytes: afterBytes, cut: cut) }
    wakeUp.signal()
  }

  /// Begins to count for `cut`, from zero. To be called when nothing is under way in the direction
  /// that is to be cut (the client's connection is authenticated and idle).
  package func arm() {
    control.withLock {
      $0.isArmed = true
      $0.sinceArmed = FaultControl.zero
    }
    wakeUp.signal()
  }

  /// Cuts all connections there are, soon: `cutCount` tells, before either end can see it.
  package func cutNow(by cut: Cut = .reset) {
    control.withLock { $0.cutAll = cut }
    wakeUp.signal()
  }

  /// Stops forwarding on the connections there are, without any end of them being told; new ones
  /// work, unless `newOnesToo`.
  package func freeze(newOnesToo: Bool = false) {
    control.withLock {
      $0.freezesAll = true
      $0.freezesNew = newOnesToo
    }
    wakeUp.signal()
  }

  /// Goes on where `freeze` stopped.
  package func thaw() {
    control.withLock {
      $0.thawsAll = true
      $0.freezesNew = false
    }
    wakeUp.signal()
  }

  /// Throws away, from now on and for good, all that goes this way on the connections there are;
  /// what goes the other way still arrives, and nobody is told. New connections are whole.
  package func drop(_ direction: Direction) {
    control.withLock { _ = $0.drops.insert(direction) }
    wakeUp.signal()
  }

  /// Whether new connections are reset at once, as when nobody listens on the host.
  package func refuseConnections(_ refuse: Bool) { control.withLock { $0.refuses = refuse } }

  /// Limits each direction of each connection; nil is without limit.
  package func throttle(bytesPerSecond: Int?) {
    control.withLock { $0.bytesPerSecond = bytesPerSecond }
    wakeUp.signal()
  }

  /// Keeps every byte back for so long, in each direction, with any number of bytes under way: what
  /// a long line does, and not what a slow one does.
  package func delay(each way: Duration) {
    control.withLock { $0.delay = way }
    wakeUp.signal()
  }

  /// Ends the proxy and all its connections.
  package func stop() {
    control.withLock { $0.isStopped = true }
    wakeUp.signal()
  }
}

/// What the proxy's owner tells its thread, and what it tells back.
struct FaultControl {
  struct Plan {
    var direction: FaultProxy.Direction
    var afterBytes: Int
    var cut: FaultProxy.Cut
  }

  static let zero: [FaultProxy.Direction: Int] = [.toServer: 0, .toClient: 0]

  var plan: Plan?
  var isArmed = false
  var cutAll: FaultProxy.Cut?
  var freezesAll = false
  var thawsAll = false
  var freezesNew = false
  var drops: Set<FaultProxy.Direction> = []
  var refuses = false
  var bytesPerSecond: Int?
  var delay = Duration.zero
  var isStopped = false

  var total = zero
  var sinceArmed = zero
  var boundaries: [FaultProxy.Direction: [Int]] = [.toServer: [], .toClient: []]
  var connectionCount = 0
  var cutCount = 0

  /// How many bytes may still go before the planned cut; nil when there is none in this direction.
  func bytesLeft(_ direction: FaultProxy.Direction) -> Int? {
    guard isArmed, let plan, plan.direction == direction else { return nil }
    return max(0, plan.afterBytes - sinceArmed[direction]!)
  }
}
