/// A host as the user names it: an alias of ssh_config, or `user@name:port`.
///
/// The text becomes an argument of `ssh -G`, so nothing may be in it that ssh or a shell could take
/// for an option or for syntax.
struct HostName: Sendable, Equatable {
  let text: String
  let user: String?
  /// Without brackets.
  let name: String
  let port: UInt16?

  /// - Throws: `SSHError` kind `.badConfiguration`.
  init(_ text: String) throws(SSHError) {
    func refuse(_ why: String) -> SSHError {
      // The text itself may hold anything: only its harmless part is repeated.
      let shown = String(String.UnicodeScalarView(text.unicodeScalars.map(Self.printable)))
      return SSHError(
        .configuration, .badConfiguration, host: shown, "This is no host name: \(why)",
        advice: "Use a name from your ssh_config, or user@name:port")
    }
    if text.isEmpty { throw refuse("it is empty") }
    for scalar in text.unicodeScalars where !Self.allowed.contains(scalar) {
      let isControl = scalar.value < 0x20 || scalar.value == 0x7F
      throw refuse(isControl ? "it holds a control character" : "it holds “\(scalar)”")
    }
    var rest = text[...]
    var user: String?
    if let at = rest.lastIndex(of: "@") {
      user = String(rest[..<at])
      rest = rest[rest.index(after: at)...]
    }
    guard let (name, port) = Self.split(rest) else { throw refuse("its port is no number") }
    if let user, user.isEmpty || user.hasPrefix("-") { throw refuse("the user's part") }
    if name.isEmpty { throw refuse("it has no name") }
    if name.hasPrefix("-") { throw refuse("it begins with “-”") }
    if name.contains(where: { "[]@".contains($0) }) { throw refuse("misplaced “[”, “]” or “@”") }
    (self.text, self.user, self.name, self.port) = (text, user, name, port)
  }

  /// What names the host to the `ssh` program. What follows `--` is never an option, whatever it
  /// looks like.
  ///
  /// - Parameter file: as ssh's `-F`; nil for the user's own configuration.
  func sshArguments(file: String?) -> [String] {
    var arguments: [String] = []
    if let file { arguments += ["-F", file] }
    if let port { arguments += ["-p", String(port)] }
    if let user { arguments += ["-l", user] }
    return arguments + ["--", name]
  }

  private static let allowed = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:%@[]-".unicodeScalars)

  private static func printable(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : scalar
  }

  /// nil when there is a port part that is no port.
  private static func split(_ text: Substring) -> (String, UInt16?)? {
    var (name, port): (Substring, Substring?) = (text, nil)
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      name = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      if !rest.isEmpty {
        guard rest.hasPrefix(":") else { return nil }
        port = rest.dropFirst()
      }
    } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
      // More than one colon without brackets is an IPv6 address.
      (name, port) = (text[..<colon], text[text.index(after: colon)...])
    }
    guard let port else { return (String(name), nil) }
    guard port.allSatisfy(\.isNumber), let number = UInt16(port), number > 0 else { return nil }
    return (String(name), number)
  }
}
