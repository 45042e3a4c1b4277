/// Expands the tokens of a ProxyCommand or ProxyJump (ssh_config(5), TOKENS: %%, %h, %n, %p and %r).
///
/// What they stand for becomes part of a shell's command line, so it must hold nothing that is
/// syntax there: some of it may have come from a link that the user was given.
struct ProxyTokens {
  private let configuration: HostConfiguration
  private let host: HostName

  init(_ configuration: HostConfiguration, _ host: HostName) {
    (self.configuration, self.host) = (configuration, host)
  }

  func expand(_ text: some StringProtocol, of option: String) throws(SSHError) -> String {
    try expandingTokens(in: text) { token throws(SSHError) in
      switch token {
      case "h": return try harmless(configuration.hostName, "host name", option)
      case "n": return try harmless(host.name, "host name", option)
      case "p": return String(configuration.port)
      case "r": return try harmless(configuration.user, "user name", option)
      case let other:
        throw refuse("\(option): the token %\(other.map(String.init) ?? "") is unknown")
      }
    }
  }

  private func harmless(
    _ value: String, _ what: String, _ option: String
  ) throws(SSHError) -> String {
    guard !value.isEmpty, !value.hasPrefix("-"),
      value.unicodeScalars.allSatisfy(Self.harmless.contains)
    else { throw refuse("The \(what) \(value.debugDescription) is not put into a \(option)") }
    return value
  }

  private static let harmless = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:%@+-".unicodeScalars)

  private func refuse(_ words: String) -> SSHError {
    SSHError(.configuration, .badConfiguration, host: host.text, words)
  }
}

extension HostName {
  /// A hop as ProxyJump names it: `user@name:port`, or the same as a URI.
  ///
  /// - Parameter host: the host that is to be reached through it.
  init(jump word: String, to host: HostName, _ configuration: HostConfiguration) throws(SSHError) {
    var text = try ProxyTokens(configuration, host).expand(word, of: "ProxyJump")[...]
    if text.lowercased().hasPrefix("ssh://") {
      text = text.dropFirst("ssh://".count)
      if text.hasSuffix("/") { text = text.dropLast() }
    }
    do throws(SSHError) {
      try self.init(String(text))
    } catch {
      throw SSHError(
        .configuration, .badConfiguration, host: host.text,
        "ProxyJump names the hop “\(error.host)”: \(error.message)")
    }
  }
}
