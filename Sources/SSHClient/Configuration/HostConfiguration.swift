/// What ssh_config says about a host, as `ssh -G` answers it.
///
/// Passed over, since nothing here depends on it: Compression (libssh2's costs more than it saves),
/// LogLevel, RekeyLimit (the server's counts), IPQoS, RequestTTY, RemoteCommand, EscapeChar, and all
/// of Control*, *Forward* and Tunnel*. SecurityKeyProvider matters to security keys only, which
/// libssh2 cannot use at all.
struct HostConfiguration: Sendable, Equatable {
  var hostName: String
  var port: UInt16
  var user: String
  var network = NetworkSettings()
  var hostKeys = HostKeySettings()
  var algorithms = AlgorithmPreferences()
  var remoteEnvironment: RemoteEnvironment
  var batchMode = false
  /// Expanded, in the order given.
  var identityFiles: [String] = []
  var identitiesOnly = false
  /// The agent's socket; nil when none is to be asked.
  var identityAgent: String?
  var authentication = AuthenticationPreferences()

  var knownHostName: KnownHostName {
    KnownHostName(host: hostName, port: port, alias: hostKeys.alias)
  }

  /// Reads the answer of `ssh -G`, taken apart.
  ///
  /// - Parameter host: as the user named it.
  init(_ values: ConfigurationValues, _ host: HostName) throws(SSHError) {
    guard let hostName = values["hostname"], let user = values["user"],
      let port = values["port"].flatMap(UInt16.init)
    else {
      throw SSHError(
        .configuration, .badConfiguration, host: host.text,
        "ssh -G gave no host name, user and port")
    }
    (self.hostName, self.user, self.port) = (hostName, user, port)
    remoteEnvironment = RemoteEnvironment(values)
    if let provider = values["pkcs11provider"], provider != "none" {
      throw values.beyondLibSSH2("PKCS11Provider", provider)
    }
    let tokens = PathTokens(
      hostName: hostName, originalName: host.name, port: port, user: user,
      hostKeyAlias: values["hostkeyalias"], host: host.text)
    network = try NetworkSettings(values)
    hostKeys = try HostKeySettings(values, tokens)
    algorithms = AlgorithmPreferences(
      keyExchange: values.list("kexalgorithms"), hostKey: values.list("hostkeyalgorithms"),
      ciphers: values.list("ciphers"), macs: values.list("macs"))
    batchMode = values.flag("batchmode")
    identitiesOnly = values.flag("identitiesonly")
    // OpenSSH's own default list is made of what usually does not exist.
    for file in values.all("identityfile") where file != "none" {
      identityFiles.append(try tokens.expand(file))
    }
    authentication = try AuthenticationPreferences(values, tokens)
    identityAgent = try Self.agent(values["identityagent"], tokens)
  }

  /// ssh_config(5), IdentityAgent: `none`, `SSH_AUTH_SOCK`, `$VARIABLE`, or a path.
  private static func agent(
    _ value: String?, _ tokens: PathTokens
  ) throws(SSHError) -> String? {
    switch value {
    case "none": return nil
    case nil:
      // The user's own agent is no test's business.
      return UserFiles.isTesting ? nil : environment("SSH_AUTH_SOCK")
    case "SSH_AUTH_SOCK": return environment("SSH_AUTH_SOCK")
    case let value? where value.hasPrefix("$") && !value.hasPrefix("${"):
      return environment(String(value.dropFirst()))
    case let value?: return try tokens.expand(value)
    }
  }
}
