#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A TCP server on 127.0.0.1 that is no SSH server, on a thread of its own.
package final class PlainServer: Sendable {
  package enum Behaviour: Sendable {
    /// Lines that are no banner, for ever.
    case tarpit
    case silent
    case http
    case closesAtOnce
    /// A banner, and then nothing.
    case bannerOnly
  }

  package let port: UInt16
  /// How many clients have come.
  package var clients: Int { counts.withLock { $0.clients } }
  /// How many of them have hung up.
  package var hangUps: Int { counts.withLock { $0.hangUps } }
  private let listener: Int32
  private let counts = Locked((clients: 0, hangUps: 0))

  package init(_ behaviour: Behaviour) throws {
    let listener = try listenOnLoopback(port: 0)
    self.listener = listener
    port = try localPort(of: listener)
    let counts = counts
    startThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        counts.withLock { $0.clients += 1 }
        startThread {
          serve(client, behaviour)
          counts.withLock { $0.hangUps += 1 }
          close(client)
        }
      }
    }
  }

  /// The thread leaves accept(2), and then nobody uses the descriptor any more.
  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}

private func serve(_ client: Int32, _ behaviour: PlainServer.Behaviour) {
  func say(_ text: String) -> Bool { send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL)) > 0 }
  func awaitHangUp() {
    var buffer = [UInt8](repeating: 0, count: 1024)
    while recv(client, &buffer, buffer.count, 0) > 0 {}
  }
  switch behaviour {
  case .tarpit: while say("wait...\r\n") { usleep(50_000) }
  case .silent: awaitHangUp()
  case .http:
    var buffer = [UInt8](repeating: 0, count: 1024)
    _ = recv(client, &buffer, buffer.count, 0)
    _ = say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
  case .closesAtOnce: break
  case .bannerOnly:
    _ = say("SSH-2.0-Mute\r\n")
    awaitHangUp()
  }
}
