#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

#if canImport(Darwin)
  private let stream = SOCK_STREAM
#else
  private let stream = Int32(SOCK_STREAM.rawValue)
#endif

private func withLoopback<Result>(
  _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
) rethrows -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return try withUnsafePointer(to: &address) {
    try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}

private func newSocket() throws -> Int32 {
  let descriptor = try check("socket") { socket(AF_INET, stream, 0) }
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  return descriptor
}

private func setOption(_ socket: Int32, _ level: Int32, _ name: Int32) {
  var on: Int32 = 1
  _ = setsockopt(socket, level, name, &on, socklen_t(MemoryLayout<Int32>.size))
}

/// A socket that listens on 127.0.0.1, on this port or, for 0, on one that the kernel chose.
package func listenOnLoopback(port: UInt16) throws -> Int32 {
  let socket = try newSocket()
  setOption(socket, SOL_SOCKET, SO_REUSEADDR)
  do {
    _ = try withLoopback(port) { address, size in
      try check("bind port \(port)") { bind(socket, address, size) }
    }
    try check("listen") { listen(socket, 128) }
  } catch {
    close(socket)
    throw error
  }
  return socket
}

/// A connection to a port of 127.0.0.1.
package func connectToLoopback(port: UInt16) throws -> Int32 {
  let socket = try newSocket()
  do {
    _ = try withLoopback(port) { address, size in
      try check("connect to port \(port)") { connect(socket, address, size) }
    }
  } catch {
    close(socket)
    throw error
  }
  return socket
}

/// The port that a socket is bound to.
package func localPort(of socket: Int32) throws -> UInt16 {
  var address = sockaddr_in()
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  _ = try withUnsafeMutablePointer(to: &address) {
    try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      try check("getsockname") { getsockname(socket, address, &size) }
    }
  }
  return UInt16(bigEndian: address.sin_port)
}

/// Makes a socket one that never waits, neither for the peer nor to fill a segment.
func makeImmediate(_ socket: Int32) {
  _ = fcntl(socket, F_SETFL, O_NONBLOCK)
  setOption(socket, Int32(IPPROTO_TCP), TCP_NODELAY)
}

/// Closes a connection with RST in place of FIN, once the kernel has delivered what was written:
/// otherwise the bytes that were to arrive before the cut would be lost with it.
func closeWithReset(_ socket: Int32) {
  var unacknowledged: Int32 = 0
  for _ in 0..<100 {
    if ioctl(socket, UInt(TIOCOUTQ), &unacknowledged) != 0 || unacknowledged == 0 { break }
    _ = poll(nil, 0, 1)
  }
  var now = linger(l_onoff: 1, l_linger: 0)
  _ = setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  close(socket)
}

/// A port of 127.0.0.1 that nobody listens on, from below the range out of which the kernel gives
/// clients theirs (so that the next connection of another test does not take it).
package func freePort() throws -> UInt16 {
  for _ in 0..<100 {
    let port = UInt16.random(in: 15_000..<32_000)
    do {
      close(try listenOnLoopback(port: port))
      return port
    } catch let error as SystemError where error.number == EADDRINUSE {
      continue
    }
  }
  throw SystemError("find a free port", EADDRINUSE)
}
