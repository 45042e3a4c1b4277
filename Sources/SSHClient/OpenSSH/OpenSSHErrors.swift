extension MasterLog {
  /// Why the master has ended, by its own words. What it said beside them (a server's banner) can
  /// make an error's kind wrong, but never a connection out of none.
  func failure(host: String) -> SSHError {
    func has(_ texts: String...) -> Bool {
      texts.contains { text in words.contains(where: { $0.contains(text) }) }
    }
    func error(
      _ phase: SSHError.Phase, _ kind: SSHError.Kind, _ text: String, advice: String? = nil
    ) -> SSHError {
      SSHError(phase, kind, host: host, text, advice: advice)
    }
    var said = words.suffix(4).joined(separator: "; ")
    if said.last == "." { said.removeLast() }
    if has(
      "HOST IDENTIFICATION HAS CHANGED", "REVOKED HOST KEY", "is marked as revoked",
      "revoked by file")
    {
      return error(.hostKey, .hostKeyChanged, changedKey)
    }
    if has("Host key verification failed", "host key is known for") {
      return error(
        .hostKey, .hostKeyUnknown, "Its host key is not known and nobody confirmed it: \(said)",
        advice: "Connect once with `ssh` and compare the fingerprint")
    }
    if has("Permission denied (", "Too many authentication failures") {
      return error(.authentication, .authenticationRefused, "The server let us not in: \(said)")
    }
    if has("Could not resolve hostname") { return error(.resolve, .unreachable, said) }
    if has("not responding") { return error(.linkDead, .unreachable, "The link is dead: \(said)") }
    if has("Unable to negotiate", "no matching ") { return error(.keyExchange, .refused, said) }
    if has("banner exchange", "kex_exchange_identification") {
      return error(.banner, has("timed out") ? .timedOut : .unreachable, said)
    }
    if has("Bad configuration option", "terminating, ", "Bad owner or permissions") {
      return error(.configuration, .badConfiguration, said)
    }
    if wasTooSlow { return error(phase, .timedOut, "The server was silent for too long: \(said)") }
    let told = said.isEmpty ? "ssh ended without a word" : said
    switch stage {
    case .established: return error(.transfer, .unreachable, "The connection was lost: \(told)")
    case .configuring: return error(.configuration, .badConfiguration, told)
    case .connecting: return error(.connect, has("timed out") ? .timedOut : .unreachable, told)
    default: return error(phase, .unreachable, told)
    }
  }

  /// A step did not end in time.
  func timedOut(host: String, after limit: Duration) -> SSHError {
    let said = words.isEmpty ? "" : "; ssh said: " + words.suffix(4).joined(separator: "; ")
    return SSHError(
      phase, .timedOut, host: host, "ssh did not get on within \(limit.components.seconds) s\(said)"
    )
  }

  private var phase: SSHError.Phase {
    switch stage {
    case .configuring: .configuration
    case .connecting: .connect
    case .banner: .banner
    case .exchangingKeys: .keyExchange
    case .checkingHostKey: .hostKey
    case .authenticating: .authentication
    case .established: .transfer
    }
  }

  /// Without the frame that ssh draws around its warning.
  private var changedKey: String {
    let lines = words.filter { !$0.hasPrefix("@@@") && !$0.hasPrefix("  ") }
    return "Its host key is another one than is known, or was revoked: "
      + lines.suffix(12).joined(separator: " ")
  }
}
