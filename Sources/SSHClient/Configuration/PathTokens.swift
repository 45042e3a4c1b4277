#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Expands `~`, `%` tokens and `${VARIABLE}` in a path: `ssh -G` prints IdentityFile as it was
/// written (ssh_config(5), TOKENS and ENVIRONMENT VARIABLES).
struct PathTokens {
  let hostName: String
  let originalName: String
  let port: UInt16
  let user: String
  let hostKeyAlias: String?
  /// What errors call the host.
  let host: String

  func expand(_ text: String) throws(SSHError) -> String {
    try expandTokens(expandVariables(expandTilde(text)))
  }

  private func expandTilde(_ text: String) throws(SSHError) -> String {
    guard text.hasPrefix("~") else { return text }
    let end = text.firstIndex(of: "/") ?? text.endIndex
    let name = text[text.index(after: text.startIndex)..<end]
    if name.isEmpty { return UserFiles.home + text[end...] }
    guard let folder = UserFiles.homeFolder(of: String(name)) else {
      throw refuse("\(text): no user is called \(name)")
    }
    return folder + text[end...]
  }

  private func expandVariables(_ text: String) throws(SSHError) -> String {
    var result = ""
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      let next = rest.index(after: dollar)
      guard next < rest.endIndex, rest[next] == "{", let end = rest.firstIndex(of: "}") else {
        result += rest[...dollar]
        rest = rest[next...]
        continue
      }
      let name = String(rest[rest.index(after: next)..<end])
      guard let value = environment(name) else { throw refuse("\(text): \(name) is not set") }
      result += rest[..<dollar] + value
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }

  private func expandTokens(_ text: String) throws(SSHError) -> String {
    try expandingTokens(in: text) { token throws(SSHError) in
      switch token {
      case "d": return UserFiles.home
      case "h": return hostName
      case "i": return String(getuid())
      case "k": return hostKeyAlias ?? originalName
      case "L": return String(localHostName().prefix { $0 != "." })
      case "l": return localHostName()
      case "n": return originalName
      case "p": return String(port)
      case "r": return user
      case "u": return try localUser()
      case let other:
        let token = "%\(other.map(String.init) ?? "")"
        var error = refuse("\(text): the token \(token) is unknown")
        // %C and %j, and what a newer ssh may know.
        error.beyondLibSSH2 = "the token \(token) in \(text)"
        throw error
      }
    }
  }

  private func localHostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    return name.text
  }

  private func localUser() throws(SSHError) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16384)
    getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found)
    guard found != nil, let name = entry.pw_name else { throw refuse("no local user name") }
    return String(cString: name)
  }

  private func refuse(_ words: String) -> SSHError {
    SSHError(.configuration, .badConfiguration, host: host, words)
  }
}

/// Puts values in place of the `%` tokens of ssh_config(5); `%%` is a percent sign in all of them.
///
/// - Parameter value: what a token's letter stands for; the letter is nil behind a last `%`.
func expandingTokens(
  in text: some StringProtocol, _ value: (Character?) throws(SSHError) -> String
) throws(SSHError) -> String {
  var result = ""
  var characters = text.makeIterator()
  while let character = characters.next() {
    guard character == "%" else {
      result.append(character)
      continue
    }
    let token = characters.next()
    result += token == "%" ? "%" : try value(token)
  }
  return result
}

/// A variable of the process's environment.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
