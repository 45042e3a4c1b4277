/// What a master agreed on with its server, from its own words (LogLevel DEBUG1). Where an ssh says it
/// in others, it stays unknown.
struct MasterAgreement: Sendable {
  private var found = ConnectionDescription(engine: "")

  /// What is known so far, of a connection by the engine of this name.
  func described(engine: String) -> ConnectionDescription {
    var found = found
    found.engine = engine
    return found
  }

  mutating func note(_ line: String) {
    if let words = rest(of: line, after: "debug1: Connecting to ") {
      // `name [address] port 22.`
      let parts = words.split { "[] ".contains($0) }
      guard parts.count == 4 else { return }
      let address = parts[1].contains(":") ? "[\(parts[1])]" : String(parts[1])
      found.way = "\(address):\(parts[3].prefix { $0.isNumber })"
    } else if line.hasPrefix("debug1: Executing proxy command") {
      found.way = "a program (ProxyCommand, ProxyJump)"
    } else if let words = rest(
      of: line, after: "debug1: Remote protocol version 2.0, remote software version ")
    {
      found.serverSoftware = words
    } else if let words = rest(of: line, after: "debug1: kex: algorithm: ") {
      found.keyExchange = words
    } else if line.hasPrefix("debug1: kex: server->client ") {
      found.cipher = text(in: line, after: " cipher: ", before: " ")
      found.mac = text(in: line, after: " MAC: ", before: " ").flatMap {
        $0 == "<implicit>" ? nil : $0
      }
    } else if let words = rest(of: line, after: "debug1: Server host key: ") {
      found.hostKey = words
    } else if line.hasPrefix("debug1: Authenticating to ") {
      found.user = text(in: line, after: " as '", before: "'")
    } else if line.hasPrefix("Authenticated "),
      let method = text(in: line, after: " using \"", before: "\"")
    {
      found.authentication = (found.authentication ?? []) + [method]
    }
  }

  private func rest(of line: String, after mark: String) -> String? {
    line.hasPrefix(mark) ? String(line.dropFirst(mark.count)) : nil
  }

  private func text(in line: String, after mark: String, before end: Character) -> String? {
    guard let range = line.firstRange(of: mark) else { return nil }
    return String(line[range.upperBound...].prefix { $0 != end })
  }
}
