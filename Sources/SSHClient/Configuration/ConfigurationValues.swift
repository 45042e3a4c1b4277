/// What `ssh -G` printed: lines of a keyword in lower case, a space, and the value as it was written.
struct ConfigurationValues: Sendable {
  private var lines: [String: [String]] = [:]
  /// What errors call the host.
  let host: String

  init(_ answer: String, host: String) {
    self.host = host
    for line in answer.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { continue }
      lines[parts[0].lowercased(), default: []].append(String(parts[1]))
    }
  }

  subscript(_ keyword: String) -> String? { lines[keyword]?.first }

  /// Of an option that may be given several times.
  func all(_ keyword: String) -> [String] { lines[keyword] ?? [] }

  func list(_ keyword: String) -> [String]? {
    self[keyword].map { $0.split(separator: ",").map(String.init) }
  }

  func number(_ keyword: String) -> Int? { self[keyword].flatMap { Int($0) } }

  func flag(_ keyword: String, default missing: Bool = false) -> Bool {
    self[keyword].map { ["yes", "true"].contains($0) } ?? missing
  }

  /// An option that must not be passed over in silence, and that libssh2 has nothing for.
  func beyondLibSSH2(_ option: String, _ value: String?) -> SSHError {
    SSHError(
      .configuration, .badConfiguration, host: host,
      "\(option) is set for this host (\(value ?? "")), which libssh2 has nothing for",
      beyondLibSSH2: option)
  }
}
