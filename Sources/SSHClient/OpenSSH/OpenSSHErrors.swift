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
    let said = telling
    if has("REVOKED HOST KEY", "is marked as revoked", "revoked by file") {
      return error(
        .hostKey, .hostKeyChanged, "The host shows a revoked key: \(hostKeyWords)",
        advice: "Do not connect; ask whoever runs the host for its new key")
    }
    if has("HOST IDENTIFICATION HAS CHANGED") {
      return error(
        .hostKey, .hostKeyChanged, "The host shows another key than the known one: \(hostKeyWords)",
        advice: "Somebody may be listening in. If you know why it changed, remove the known key "
          + "with ssh-keygen -R")
    }
    if has("Host key verification failed", "host key is known for") {
      return error(
        .hostKey, .hostKeyUnknown, "Its host key is not known and nobody confirmed it: \(said)",
        advice: "Connect once with `ssh` and compare the fingerprint")
    }
    if has("Permission denied (", "Too many authentication failures") {
      return error(
        .authentication, .authenticationRefused, "The server let us not in: \(said)",
        advice: "See which key `ssh -v` uses for this host")
    }
    if has("Could not resolve hostname") {
      return error(
        .resolve, .unreachable, said,
        advice: "Check the name, which ssh_config may give, and your network")
    }
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

  /// Its last words, each once, without what it says of a connection that had no address.
  private var telling: String {
    var told: [String] = []
    for line in words.map(Self.withoutStop) where !told.contains(line) { told.append(line) }
    let addressed = told.filter { !$0.hasSuffix(" UNKNOWN port 65535") }
    return (addressed.isEmpty ? told : addressed).suffix(4).joined(separator: "; ")
  }

  /// Which key the host showed, and where the known one stands; of ssh's dozen lines of warning no
  /// more.
  private var hostKeyWords: String {
    let facts = words.filter { line in
      ["SHA256:", "Offending ", "is marked as revoked", "revoked by file"].contains {
        line.contains($0)
      }
    }
    return (facts.isEmpty ? words.suffix(4) : facts[...]).map(Self.withoutStop)
      .joined(separator: "; ")
  }

  private static func withoutStop(_ line: String) -> String {
    line.last == "." ? String(line.dropLast()) : line
  }
}
