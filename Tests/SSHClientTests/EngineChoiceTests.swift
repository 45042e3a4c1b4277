import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  /// Which engine carries a connection when nobody has chosen one.
  @Suite struct EngineChoiceTests {
    /// What libssh2 1.10 cannot do and `ssh` can; 1.11 can do it as well.
    @Test(
      arguments: [
        (["rsa"], []), (["ed25519"], ["Ciphers chacha20-poly1305@openssh.com"]),
      ] as [([String], [String])])
    func sshGoesOnWhereLibSSH2CannotAndIsRemembered(
      _ hostKeyTypes: [String], _ serverConfiguration: [String]
    ) async throws {
      var options = LoopbackServer.Options()
      (options.hostKeyTypes, options.serverConfiguration) = (hostKeyTypes, serverConfiguration)
      try await withLoopbackServer(options) { server in
        let notices = Locked<[String]>([])
        let connector = try server.connector(
          engine: .auto, onNotice: { text in notices.withLock { $0.append(text) } })
        for _ in 0..<2 {
          let transport = try await connector.connect()
          let result = try await transport.run("echo here")
          #expect(result.outputText == "here\n")
          let isOld = try await libraryVersion().hasPrefix("libssh2 1.10.")
          #expect(transport.engine.hasPrefix(isOld ? "OpenSSH_" : "libssh2 1."))
          let told = notices.withLock { $0 }
          #expect(told.count == (isOld ? 1 : 0), "\(told)")
          if let notice = told.first {
            #expect(
              notice.hasPrefix("dev1: libssh2 1.10.") && notice.hasSuffix("going on with ssh"))
          }
          await transport.close()
        }
      }
    }

    @Test func libSSH2CarriesWhatItCan() async throws {
      try await withConnection(.auto) { transport, _ in
        #expect(transport.engine.hasPrefix("libssh2 1."))
      }
    }

    @Test(arguments: [EngineChoice.auto, .openssh])
    func aWrongHostKeyIsRefusedByBoth(_ engine: EngineChoice) async throws {
      var options = LoopbackServer.Options()
      // With this OpenSSH by itself would connect even so.
      options.clientConfiguration = ["StrictHostKeyChecking no"]
      try await withLoopbackServer(options) { server in
        let other = server.folder["other_key"]
        try await LoopbackServer.makeKey("ed25519", other)
        try writeFile(
          server.knownHostsFile,
          Array("[127.0.0.1]:\(server.port) \(try readText(other + ".pub"))".utf8))
        let notices = Locked<[String]>([])
        let connector = try server.connector(
          engine: engine, onNotice: { text in notices.withLock { $0.append(text) } })
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .hostKeyChanged && error.phase == .hostKey, "\(error)")
        #expect(!error.isWorthRetrying)
        #expect(notices.withLock { $0 }.isEmpty)
        #expect(!server.log.contains("Accepted"))
      }
    }

    @Test(arguments: [EngineChoice.auto, .openssh])
    func aRefusedLoginIsRefusedByBoth(_ engine: EngineChoice) async throws {
      try await withLoopbackServer { server in
        try writeFile(server.authorizedKeysFile, [])
        let notices = Locked<[String]>([])
        let connector = try server.connector(
          engine: engine, onNotice: { text in notices.withLock { $0.append(text) } })
        let error = try await sshError { _ = try await connector.connect() }
        #expect(error.kind == .authenticationRefused && error.phase == .authentication, "\(error)")
        #expect(!error.isWorthRetrying)
        #expect(notices.withLock { $0 }.isEmpty)
      }
    }

    private func libraryVersion() async throws -> String {
      try await withConnection { transport, _ in transport.engine }
    }
  }
}
