import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct FaultProxyTests {
  /// A server that sends back what it gets, on a thread of its own for each connection.
  final class EchoServer: Sendable {
    let port: UInt16
    private let listener: Int32

    init() throws {
      listener = try listenOnLoopback(port: 0)
      port = try localPort(of: listener)
      let listener = listener
      startThread {
        while true {
          let client = accept(listener, nil, nil)
          if client == -1 {
            close(listener)
            return
          }
          startThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
              let count = read(client, &buffer, buffer.count)
              if count <= 0 { break }
              _ = send(client, buffer, count, Int32(MSG_NOSIGNAL))
            }
            close(client)
          }
        }
      }
    }

    /// Ends the thread's `accept`; closing is the thread's own affair, or it could go on with a
    /// number that another test has been given in between.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
  }

  /// What a client that sends `bytes` and half-closes gets back, and the error that ended it.
  private func echo(_ count: Int, through port: UInt16, arm: FaultProxy? = nil) async throws
    -> (received: Int, error: Int32)
  {
    try await onOwnThread {
      let client = try connectToLoopback(port: port)
      defer { close(client) }
      arm?.arm()
      let bytes = [UInt8](repeating: 7, count: count)
      var sent = 0
      while sent < count {
        let now = bytes.withUnsafeBytes {
          send(client, $0.baseAddress! + sent, min(1000, count - sent), Int32(MSG_NOSIGNAL))
        }
        if now == -1 { break }
        sent += now
      }
      shutdown(client, Int32(SHUT_WR))
      var (received, buffer) = (0, [UInt8](repeating: 0, count: 4096))
      while true {
        let now = read(client, &buffer, buffer.count)
        if now > 0 { received += now } else { return (received, now == 0 ? 0 : errno) }
      }
    }
  }

  @Test func withoutAFaultEveryByteGoesThroughAndIsCounted() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    let result = try await echo(200_000, through: proxy.port)
    #expect(result.received == 200_000 && result.error == 0)
    #expect(proxy.bytes(.toServer) == 200_000)
    #expect(proxy.bytes(.toClient) == 200_000)
    #expect(proxy.connectionCount == 1)
    #expect(!proxy.didCut)
  }

  @Test(arguments: [0, 1, 63, 64, 5000], FaultProxy.Direction.allCases)
  func aCutComesAfterExactlySoManyBytes(_ count: Int, _ direction: FaultProxy.Direction)
    async throws
  {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    proxy.cut(direction, afterBytes: count)
    let result = try await echo(100_000, through: proxy.port, arm: proxy)
    #expect(proxy.didCut)
    #expect(proxy.bytesSinceArmed(direction) == count)
    #expect(result.error == ECONNRESET || result.received < 100_000)
    if direction == .toClient { #expect(result.received == count) }
    // The cut was one: the next connection is whole.
    #expect(try await echo(100_000, through: proxy.port).received == 100_000)
    #expect(proxy.cutCount == 1)
  }

  @Test func aPlannedCutThatWasNotReachedDidNotHappen() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    proxy.cut(.toClient, afterBytes: 1001)
    #expect(try await echo(1000, through: proxy.port, arm: proxy).received == 1000)
    #expect(!proxy.didCut)
  }

  @Test func aCutByFinishIsAnEndOfFile() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    proxy.cut(.toClient, afterBytes: 500, by: .finish)
    let result = try await echo(1000, through: proxy.port, arm: proxy)
    #expect(result.received == 500)
    #expect(proxy.didCut)
  }

  @Test func aFrozenConnectionIsSilentAndNotEnded() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    let client = try connectToLoopback(port: proxy.port)
    defer { close(client) }
    try await waitUntil("the connection") { proxy.connectionCount == 1 }
    proxy.freeze()
    #expect(write(client, "abc", 3) == 3)
    try await Task.sleep(for: .milliseconds(100))
    #expect(proxy.bytes(.toServer) == 0)
    // A new connection works all the same.
    #expect(try await echo(10, through: proxy.port).received == 10)
    proxy.thaw()
    try await waitUntil("the thawed bytes") { proxy.bytes(.toClient) == 13 }
  }

  @Test(arguments: FaultProxy.Direction.allCases)
  func whatIsDroppedOneWayNeverArrivesAndTheOtherWayGoesOn(_ direction: FaultProxy.Direction)
    async throws
  {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    let client = try connectToLoopback(port: proxy.port)
    defer { close(client) }
    #expect(write(client, "abc", 3) == 3)
    try await waitUntil("the echo") { proxy.bytes(.toClient) == 3 }
    proxy.drop(direction)
    #expect(write(client, "defg", 4) == 4)
    let other = direction == .toServer ? 3 : 7
    try await waitUntil("what still goes") { proxy.bytes(.toServer) == other }
    try await Task.sleep(for: .milliseconds(100))
    #expect(proxy.bytes(.toServer) == other && proxy.bytes(.toClient) == 3)
    #expect(try await echo(10, through: proxy.port).received == 10)
    #expect(!proxy.didCut)
  }

  @Test func aThrottledConnectionTakesItsTime() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    proxy.throttle(bytesPerSecond: 100_000)
    let start = ContinuousClock.now
    #expect(try await echo(50_000, through: proxy.port).received == 50_000)
    #expect(start.duration(to: .now) > .milliseconds(400))
  }

  @Test func aDelayedConnectionIsLateAndNotSlow() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    proxy.delay(each: .milliseconds(200))
    let start = ContinuousClock.now
    #expect(try await echo(10_000_000, through: proxy.port).received == 10_000_000)
    let duration = start.duration(to: .now)
    #expect(duration > .milliseconds(400))
    // 150 reads of the proxy: one after the other, they would take 30 s.
    #expect(duration < .seconds(15))
    #expect(proxy.bytes(.toClient) == 10_000_000)
  }

  @Test func refusedConnectionsEndAtOnce() async throws {
    let server = try EchoServer()
    let proxy = try FaultProxy(server: server.port)
    proxy.refuseConnections(true)
    let refused = try await echo(10, through: proxy.port)
    #expect(refused.received == 0)
    proxy.refuseConnections(false)
    #expect(try await echo(10, through: proxy.port).received == 10)
  }

  @Test func sshWorksThroughIt() async throws {
    try await withLoopbackServer { server in
      let proxy = try FaultProxy(server: server.port)
      try server.addHost("through-proxy", port: proxy.port)
      let text = try await Command(
        "ssh", ["-F", server.sshConfiguration, "through-proxy", "echo 안녕"]
      ).succeed()
      #expect(text == "안녕")
      #expect(proxy.bytes(.toClient) > 1000)
      let client = try Command(
        "ssh", ["-F", server.sshConfiguration, "through-proxy", "echo here; sleep 100"]
      ).start()
      try await client.waitForOutput("the command's first line") { !$0.isEmpty }
      proxy.cutNow()
      #expect(try await client.exit(deadline: .seconds(10)).end == .code(255))
    }
  }
}
