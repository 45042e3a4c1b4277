/// Makes connections to one host as the user's own ssh configuration describes it.
public struct SSHConnector: Connector {
  /// The host as the user names it.
  public var hostName: String { host.text }

  private let host: HostName
  private let options: ConnectionOptions
  private let memory = EngineMemory()

  /// - Parameter host: a name of ssh_config, or `user@name:port`.
  /// - Throws: `SSHError` kind `.badConfiguration` when the text is no host name.
  public init(host: String, options: ConnectionOptions) throws(SSHError) {
    self.host = try HostName(host)
    self.options = options
  }

  /// Connects and authenticates, by the engine that the options choose.
  ///
  /// - Throws: `SSHError`; its phase says how far it came.
  public func connect() async throws(SSHError) -> any Transport {
    switch options.engine {
    case .libssh2: return try await LibSSH2Engine(host: host, options: options).connect()
    case .openssh:
      guard let program = try await SSHProgram.find(host: host) else {
        throw SSHError(
          .configuration, .badConfiguration, host: host.text,
          "There is no `ssh` of OpenSSH's on your PATH",
          advice: "Install it, or choose the other engine: --transport libssh2")
      }
      return try await OpenSSHEngine(host: host, options: options, program: program).connect()
    case .auto: return try await connectByEither()
    }
  }

  /// libssh2 first. Only an error that proves its limits lets `ssh` go on: a wrong host key or a
  /// refused login is the same with either.
  private func connectByEither() async throws(SSHError) -> any Transport {
    if let limit = memory.limit { return try await goOn(beyond: limit) }
    do throws(SSHError) {
      return try await LibSSH2Engine(host: host, options: options).connect()
    } catch {
      guard let limit = error.beyondLibSSH2, let program = try await SSHProgram.find(host: host)
      else { throw error }
      options.onNotice(
        "\(host.text): \(LibSSH2Abilities.libraryName) cannot use \(limit); going on with ssh")
      let transport = try await goOn(beyond: limit, program)
      memory.limit = limit
      return transport
    }
  }

  private func goOn(
    beyond limit: String, _ program: SSHProgram? = nil
  ) async throws(SSHError) -> any Transport {
    do throws(SSHError) {
      var found = program
      if found == nil { found = try await SSHProgram.find(host: host) }
      guard let found else {
        throw SSHError(
          .configuration, .badConfiguration, host: host.text, "There is no `ssh` any more")
      }
      return try await OpenSSHEngine(host: host, options: options, program: found).connect()
    } catch {
      var error = error
      error.message += " (by ssh, since \(LibSSH2Abilities.libraryName) cannot use \(limit))"
      throw error
    }
  }
}

/// What a connector has learnt about its host, so that the next connection goes straight to `ssh`.
///
/// Sendable: its field is touched under the lock only.
private final class EngineMemory: @unchecked Sendable {
  private let lock = Lock()
  private var found: String?

  var limit: String? {
    get { lock.withLock { found } }
    set { lock.withLock { found = newValue } }
  }
}
