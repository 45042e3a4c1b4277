/// What ssh_config says about a host, as `ssh -G` answers it.
struct HostConfiguration: Sendable, Equatable {
  enum AddressFamily: Sendable { case any, inet, inet6 }

  /// ssh_config(5), StrictHostKeyChecking. With `no`, OpenSSH connects even when the key has
  /// changed; here that is never done, and `no` means `acceptNew`.
  enum StrictHostKeyChecking: Sendable { case yes, ask, acceptNew }

  var hostName: String
  var port: UInt16
  var user: String
  var hostKeyAlias: String?
  var addressFamily = AddressFamily.any
  /// Expanded, in the order given.
  var identityFiles: [String] = []
  var identitiesOnly = false
  /// The agent's socket; nil when none is to be asked.
  var identityAgent: String?
  var authentication = AuthenticationPreferences()
  var userKnownHostsFiles: [String] = []
  var globalKnownHostsFiles: [String] = []
  var strictHostKeyChecking = StrictHostKeyChecking.ask
  var hashesKnownHosts = false
  var batchMode = false
  var connectTimeout: Duration?
  var algorithms = AlgorithmPreferences()

  var knownHostName: KnownHostName {
    KnownHostName(host: hostName, port: port, alias: hostKeyAlias)
  }

  /// Reads the answer of `ssh -G`.
  ///
  /// - Parameters:
  ///   - answer: lines `keyword value`, keywords in lower case.
  ///   - host: as the user named it.
  init(answer: String, host: HostName) throws(SSHError) {
    let values = Self.values(answer)
    func refuse(_ words: String) -> SSHError {
      SSHError(.configuration, .badConfiguration, host: host.text, words)
    }
    guard let hostName = values["hostname"]?.first, let user = values["user"]?.first,
      let port = values["port"]?.first.flatMap(UInt16.init)
    else { throw refuse("ssh -G gave no host name, user and port") }
    (self.hostName, self.user, self.port) = (hostName, user, port)
    try Self.refuseUnsupported(values, host: host)
    func flag(_ keyword: String) -> Bool {
      ["yes", "true"].contains(values[keyword]?.first ?? "no")
    }
    hostKeyAlias = values["hostkeyalias"]?.first
    addressFamily =
      switch values["addressfamily"]?.first {
      case "inet": .inet
      case "inet6": .inet6
      default: .any
      }
    identitiesOnly = flag("identitiesonly")
    batchMode = flag("batchmode")
    hashesKnownHosts = flag("hashknownhosts")
    strictHostKeyChecking =
      switch values["stricthostkeychecking"]?.first {
      case "yes", "true": .yes
      case "no", "false", "off", "accept-new": .acceptNew
      default: .ask
      }
    connectTimeout = values["connecttimeout"]?.first.flatMap(Int.init).map { .seconds($0) }
    let tokens = PathTokens(
      hostName: hostName, originalName: host.name, port: port, user: user,
      hostKeyAlias: hostKeyAlias, host: host.text)
    // OpenSSH's own default list is made of what usually does not exist.
    for file in values["identityfile"] ?? [] where file != "none" {
      identityFiles.append(try tokens.expand(file))
    }
    authentication = try AuthenticationPreferences(values, tokens)
    identityAgent = try Self.agent(values["identityagent"]?.first, tokens)
    userKnownHostsFiles = try Self.files(values["userknownhostsfile"]?.first, tokens)
    globalKnownHostsFiles = try Self.files(values["globalknownhostsfile"]?.first, tokens)
    algorithms = AlgorithmPreferences(
      keyExchange: Self.list(values["kexalgorithms"]),
      hostKey: Self.list(values["hostkeyalgorithms"]),
      ciphers: Self.list(values["ciphers"]), macs: Self.list(values["macs"]))
  }

  private static func values(_ answer: String) -> [String: [String]] {
    var values: [String: [String]] = [:]
    for line in answer.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { continue }
      values[parts[0].lowercased(), default: []].append(String(parts[1]))
    }
    return values
  }

  /// What would be wrong to ignore: another way to the host, another source of host keys, or a
  /// local address that the user insists on.
  private static func refuseUnsupported(
    _ values: [String: [String]], host: HostName
  ) throws(SSHError) {
    let options = [
      "proxyjump": "ProxyJump", "proxycommand": "ProxyCommand",
      "knownhostscommand": "KnownHostsCommand", "revokedhostkeys": "RevokedHostKeys",
      "bindaddress": "BindAddress", "bindinterface": "BindInterface",
    ]
    for (keyword, name) in options.sorted(by: { $0.key < $1.key }) {
      guard let value = values[keyword]?.first, value != "none" else { continue }
      throw SSHError(
        .configuration, .badConfiguration, host: host.text,
        "\(name) is set for this host (\(value)) and not supported yet")
    }
  }

  private static func list(_ values: [String]?) -> [String]? {
    values?.first.map { $0.split(separator: ",").map(String.init) }
  }

  private static func files(
    _ value: String?, _ tokens: PathTokens
  ) throws(SSHError) -> [String] {
    var files: [String] = []
    // `ssh -G` separates files by spaces and does not quote: a path with a space falls apart here.
    for file in (value ?? "").split(separator: " ") where file != "none" {
      let path = try tokens.expand(String(file))
      guard path.hasPrefix("/") else {
        throw SSHError(
          .configuration, .badConfiguration, host: tokens.host,
          "The known hosts file \(path) is no absolute path without spaces")
      }
      files.append(path)
    }
    return files
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
