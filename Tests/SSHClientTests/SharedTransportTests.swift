import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  /// More commands at once than one connection may carry (sshd_config(5), MaxSessions).
  @Suite struct SharedTransportTests {
    @Test(arguments: enginesUnderTest, [1, 2])
    func threeCommandsRunAtOnce(_ engine: EngineChoice, mostSessions: Int) async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["MaxSessions \(mostSessions)"]
      try await withLoopbackServer(options) { server in
        let shared = try await share(server, engine)
        for _ in 0..<2 {
          let processes = try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { try await shared.execute("cat") } }
            return try await group.reduce(into: [any RemoteProcess]()) { $0.append($1) }
          }
          // A server may still count what has just ended, and one more is made.
          let connections = try server.connections().count
          #expect(connections >= (mostSessions == 1 ? 3 : 2) && connections <= 4)
          for (index, process) in processes.enumerated() {
            try await process.write([UInt8]("\(index)".utf8))
            try await process.closeStandardInput()
            let result = try await process.collect()
            #expect(result.outputText == "\(index)" && result.exit == .code(0))
            await process.abandon()
          }
          // What was only for them is gone; the first stays.
          try await waitUntil("one connection") { try server.connections().count == 1 }
        }
        await shared.close()
        try await waitUntil("none") { try server.connections().isEmpty }
      }
    }

    @Test(arguments: enginesUnderTest)
    func theFifthConnectionIsNotMade(_ engine: EngineChoice) async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["MaxSessions 1"]
      try await withLoopbackServer(options) { server in
        let shared = try await share(server, engine)
        var processes: [any RemoteProcess] = []
        for _ in 0..<4 { processes.append(try await shared.execute("cat")) }
        let error = try await sshError { _ = try await shared.execute("cat") }
        #expect(error.kind == .tooManyChannels && error.isWorthRetrying)
        #expect(try server.connections().count == 4)
        await processes.removeLast().abandon()
        // Room again, as soon as the server has taken note.
        try await waitUntil("a command") {
          do {
            processes.append(try await shared.execute("cat"))
            return true
          } catch let error as SSHError where error.kind == .tooManyChannels {
            return false
          }
        }
        await shared.close()
      }
    }

    private func share(
      _ server: LoopbackServer, _ engine: EngineChoice
    ) async throws -> SharedTransport {
      let connector = try server.connector(engine: engine)
      return SharedTransport(try await connector.connect(), host: connector.hostName) {
        () throws(SSHError) in try await connector.connect()
      }
    }
  }
}
