import TestSupport

/// A server's program: what it is called in the table, and how to start one.
enum ServerProgram: Sendable, Equatable {
  /// - Parameter folder: where the package was unpacked; empty for the one that is installed.
  case openSSH(folder: String)
  case dropbear

  var path: String {
    switch self {
    case .openSSH(let folder): "\(folder)/usr/sbin/sshd"
    case .dropbear: "/usr/sbin/dropbear"
    }
  }

  /// The name and version that the program gives itself.
  func version() async throws -> String {
    // Old sshds do not know the option and print the version with their usage.
    let result = try await Command(path, ["-V"]).run()
    let text = result.outputText + result.errorText
    let line = text.split(separator: "\n").first {
      $0.hasPrefix("OpenSSH_") || $0.hasPrefix("Dropbear")
    }
    return String(line?.prefix { $0 != "," } ?? "an unknown version")
  }
}

/// A server that was started for one row. It ends with this object.
struct MatrixServer: Sendable {
  let port: UInt16
  private let daemon: Daemon

  /// What one server is to be like.
  struct Options: Sendable {
    var address = "127.0.0.1"
    /// Paths of OpenSSH private keys.
    var hostKeys: [String] = []
    /// sshd_config, but for address, port and host keys.
    var configuration: [String] = []
    /// For dropbear, which has options in place of a configuration.
    var allowsPasswords = false
    var requiresKeyAndPassword = false
  }

  static func start(
    _ program: ServerProgram, _ options: Options, in folder: TemporaryFolder,
    name: String = "server"
  ) async throws -> MatrixServer {
    for _ in 0..<5 {
      let port = try freePort()
      let daemon =
        switch program {
        case .openSSH(let packages):
          try openSSH(program, packages, options, folder, name, port)
        case .dropbear: try await dropbear(program, options, folder, port)
        }
      let log = folder["\(name).log"]
      func said() -> String { ((try? readText(log)) ?? "") + daemon.errorText }
      var listens = false
      try await waitUntil("\(program.path) listening", every: .milliseconds(5)) {
        listens = said().contains("Server listening on") || said().contains("Not backgrounding")
        return listens || !daemon.isRunning
      }
      if listens { return MatrixServer(port: port, daemon: daemon) }
      // Somebody else may have taken the port between the look and the server's bind.
      guard said().contains("Address already in use") else {
        throw DidNotStart(path: program.path, log: said())
      }
    }
    throw DidNotStart(path: program.path, log: "no free port")
  }

  /// Ends the listener, and waits for it.
  func stop() async throws {
    daemon.end()
    try await daemon.awaitEnd()
  }

  private static func openSSH(
    _ program: ServerProgram, _ packages: String, _ options: Options, _ folder: TemporaryFolder,
    _ name: String, _ port: UInt16
  ) throws -> Daemon {
    var lines = options.configuration
    lines += options.hostKeys.map { "HostKey \($0)" }
    lines += ["ListenAddress \(options.address)", "Port \(port)"]
    if !packages.isEmpty {
      // From 9.8 on a connection has programs of its own; and an address that fails is shut out.
      lines += ["session", "auth"].map {
        "Sshd\($0 == "auth" ? "Auth" : "Session")Path \(packages)/usr/lib/openssh/sshd-\($0)"
      }
      lines.append("PerSourcePenalties no")
    }
    let path = try folder.write("\(name).config", lines.joined(separator: "\n") + "\n")
    try folder.write("\(name).log", "")
    return try Daemon(program.path, ["-D", "-f", path, "-E", folder["\(name).log"]])
  }

  private static func dropbear(
    _ program: ServerProgram, _ options: Options, _ folder: TemporaryFolder, _ port: UInt16
  ) async throws -> Daemon {
    var arguments = ["-F", "-E", "-p", "\(options.address):\(port)", "-P", folder["dropbear.pid"]]
    if !options.allowsPasswords { arguments.append("-s") }
    if options.requiresKeyAndPassword { arguments.append("-t") }
    for (index, key) in options.hostKeys.enumerated() {
      let converted = folder["dropbear_host_\(index)_\(port)"]
      try await Command("dropbearconvert", ["openssh", "dropbear", key, converted]).succeed()
      arguments += ["-r", converted]
    }
    return try Daemon(program.path, arguments)
  }

  struct DidNotStart: Error, CustomStringConvertible {
    var path: String
    var log: String
    var description: String { "\(path) did not start to listen. It said:\n\(log)" }
  }
}
