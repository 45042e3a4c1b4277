#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What carries a route's bytes where that is no TCP connection of our own: a program, or a channel
/// of a connection to a hop. It knows better than the socket why the bytes ended.
protocol Carrier: AnyObject, Sendable {
  /// How many of our own connections lie below.
  var hops: Int { get }
  /// What it has to say about the route's end, as far as that is known already.
  var knownWords: String? { get }
  /// What the connection's thread is to watch for it, besides the route's socket.
  var interest: pollfd? { get }
  /// Called on the connection's thread when something happened there.
  func listen()
  /// The route's socket has been closed; must not block, and may be called again.
  ///
  /// - Parameter isWished: whether we ended the route, and not the other side.
  func end(isWished: Bool)
  /// How it ended, once that is known; nil when there is nothing to say after two seconds.
  func lastWords() async -> CarrierEnd?
}

/// How a carrier ended.
struct CarrierEnd: Sendable {
  var words: String
  /// Trying again cannot help: the program cannot be run.
  var isHopeless = false
}

/// The hop that carries a connection, as that connection sees it. Written by the hop's connection
/// before it closes the route's socket, so that whoever sees the end of file finds the reason here.
///
/// Sendable: the only variable is touched under the lock.
final class HopCarrier: Carrier, @unchecked Sendable {
  let name: String
  let hops: Int
  private let lock = Lock()
  private var words: String?

  init(name: String, hops: Int) { (self.name, self.hops) = (name, hops) }

  var knownWords: String? { lock.withLock { words } }
  var interest: pollfd? { nil }

  func report(_ words: String) {
    lock.withLock { self.words = self.words ?? "at the hop \(name): \(words)" }
  }

  func listen() {}
  /// The hop notices the end of the route's socket by itself.
  func end(isWished: Bool) {}
  func lastWords() async -> CarrierEnd? { knownWords.map { CarrierEnd(words: $0) } }
}
