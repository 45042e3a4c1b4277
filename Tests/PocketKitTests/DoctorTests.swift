import PocketKit
import SSHClient
import TestSupport
import Testing

/// Doctor against a real sshd. What the script tells of shells and programs is in
/// spikes/doctor.bats.
@Suite struct DoctorTests {
  private func findings(
    _ engine: EngineChoice = .libssh2, on server: LoopbackServer
  ) async throws -> [String: Finding] {
    let connector = try SSHConnector(
      host: server.alias,
      options: ConnectionOptions(engine: engine, configurationFile: server.sshConfiguration))
    let doctor = Doctor()
    var (transport, all) = try await doctor.connect(by: connector)
    all += try await doctor.examine(transport, host: server.alias)
    all += await doctor.measureChannels(transport, host: server.alias)
    await transport.close()
    return Dictionary(all.map { ($0.subject, $0) }) { first, _ in first }
  }

  @Test(arguments: [EngineChoice.libssh2, .openssh])
  func aConnectionIsDescribedAndItsChannelsAreMeasured(_ engine: EngineChoice) async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["MaxSessions 3"]
    try await withLoopbackServer(options) { server in
      let found = try await findings(engine, on: server)
      func what(_ subject: String) -> String { found[subject]?.what ?? "nothing" }
      #expect(what("channels") == "3 on one connection (MaxSessions)")
      #expect(what("address").hasPrefix("127.0.0.1:\(server.port), OpenSSH_"))
      let key = try await Command("ssh-keygen", ["-lf", server.folder["host_ed25519.pub"]])
        .succeed()
      let fingerprint = key.split(separator: " ").first { $0.hasPrefix("SHA256:") } ?? "none"
      #expect(what("host key").contains(fingerprint), "\(what("host key"))")
      #expect(what("algorithms").contains("25519"), "\(what("algorithms"))")
      let way = engine == .libssh2 ? server.identityFile : "publickey"
      #expect(what("login") == "as \(server.user), by \(way)")
      #expect(found["bash"]?.verdict == .ok && found["clock"]?.verdict == .ok)
    }
  }

  @Test func aServerWithRoomForManyChannelsIsNotAskedForAll() async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["MaxSessions 40"]
    try await withLoopbackServer(options) { server in
      let found = try await findings(on: server)
      #expect(found["channels"]?.what == "at least 12 on one connection (MaxSessions)")
    }
  }

  @Test func oneChannelIsEnoughToBeExaminedAndIsAWarning() async throws {
    var options = LoopbackServer.Options()
    options.serverConfiguration = ["MaxSessions 1"]
    try await withLoopbackServer(options) { server in
      let found = try await findings(on: server)
      #expect(found["channels"]?.verdict == .warning, "\(found["channels"] as Any)")
      #expect(found["channels"]?.what.hasPrefix("1 on one connection") == true)
    }
  }

  @Test func startupFilesThatPrintAreShown() async throws {
    try await withLoopbackServer { server in
      try writeFile(
        "\(server.remoteHome)/.bash_profile", Array("echo Welcome to dev1; echo; echo two\n".utf8))
      let noise = try await findings(on: server)["startup files"]
      #expect(noise?.verdict == .warning)
      #expect(noise?.what == "they print to every command: “Welcome to dev1 | two”")
    }
  }

  @Test func aHostWithoutBashIsAFailureWithARemedy() async throws {
    try await withLoopbackServer { server in
      // Debian's bash reads this under sshd; the PATH is what the command's `sh` then has.
      let bin = "\(server.remoteHome)/bin"
      try await Command("mkdir", [bin]).succeed()
      for name in ["sh", "base64", "cat"] {
        try await Command("ln", ["-s", "/bin/\(name)", "\(bin)/\(name)"]).succeed()
      }
      try writeFile("\(server.remoteHome)/.bashrc", Array("PATH=\(bin)\n".utf8))
      let bash = try await findings(on: server)["bash"]
      #expect(bash?.verdict == .failure && bash?.remedy != nil, "\(bash as Any)")
    }
  }
}
