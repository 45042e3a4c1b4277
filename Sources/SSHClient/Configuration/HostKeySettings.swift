/// What ssh_config says about a host's keys.
///
/// Passed over: VerifyHostKeyDNS and NoHostAuthenticationForLocalhost, which would only ask for less
/// than known_hosts does, and UpdateHostKeys, since libssh2 knows nothing of it.
struct HostKeySettings: Sendable, Equatable {
  /// ssh_config(5), StrictHostKeyChecking. With `no`, OpenSSH connects even when the key has
  /// changed; here that is never done, and `no` means `acceptNew`.
  enum Strictness: Sendable { case yes, ask, acceptNew }

  var strictness = Strictness.ask
  var alias: String?
  var userFiles: [String] = []
  var globalFiles: [String] = []
  var hashesNames = false
  var checksAddress = false
  /// RevokedHostKeys.
  var revokedFile: String?

  init() {}

  /// - Throws: `SSHError` kind `.badConfiguration` for what only ssh can do, and for files that
  ///   cannot be told apart.
  init(_ values: ConfigurationValues, _ tokens: PathTokens) throws(SSHError) {
    if let command = values["knownhostscommand"], command != "none" {
      throw values.beyondLibSSH2("KnownHostsCommand", command)
    }
    strictness =
      switch values["stricthostkeychecking"] {
      case "yes", "true": .yes
      case "no", "false", "off", "accept-new": .acceptNew
      default: .ask
      }
    alias = values["hostkeyalias"]
    hashesNames = values.flag("hashknownhosts")
    // As ssh: where something else makes the connection, the address is not known.
    checksAddress = values.flag("checkhostip") && alias == nil
    userFiles = try Self.files(values, "userknownhostsfile", "UserKnownHostsFile", tokens)
    globalFiles = try Self.files(values, "globalknownhostsfile", "GlobalKnownHostsFile", tokens)
    if let file = values["revokedhostkeys"], file != "none" {
      revokedFile = try tokens.expand(file)
    }
  }

  /// `ssh -G` prints several files with spaces between them, tokens and `~` expanded, and quotes
  /// nothing. Absolute paths can be told apart all the same: each begins with a slash, and only a
  /// folder whose name ends with a space would have one behind a space.
  private static func files(
    _ values: ConfigurationValues, _ keyword: String, _ option: String, _ tokens: PathTokens
  ) throws(SSHError) -> [String] {
    guard let text = values[keyword], text != "none", !text.isEmpty else { return [] }
    var files: [String] = []
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if let last = files.last, !word.hasPrefix("/") {
        files[files.count - 1] = last + " " + word
      } else {
        files.append(String(word))
      }
    }
    var paths: [String] = []
    for file in files {
      // GlobalKnownHostsFile alone is printed as it was written.
      let path = file.hasPrefix("~") ? try tokens.expand(file) : file
      guard path.hasPrefix("/") else {
        throw SSHError(
          .configuration, .badConfiguration, host: tokens.host,
          "\(option) \(text) is not made of absolute paths",
          advice: "Write each of its paths from / or ~/ on")
      }
      paths.append(path)
    }
    return paths
  }
}
