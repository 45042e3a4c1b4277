extension HostKeyCheck {
  func revoked(_ key: HostKey, _ place: KnownHosts.Place) -> SSHError {
    SSHError(
      .hostKey, .hostKeyChanged, host: host.text,
      "The host shows a revoked \(key.typeName) key, \(key.fingerprint) (\(place))",
      advice: "Do not connect; ask whoever runs the host for its new key")
  }

  func changed(
    _ key: HostKey, from other: HostKey, _ place: KnownHosts.Place, of name: String
  ) -> SSHError {
    SSHError(
      .hostKey, .hostKeyChanged, host: host.text,
      "The host shows another \(key.typeName) key, \(key.fingerprint), than the known "
        + "\(other.fingerprint) (\(name), \(place))",
      advice: "Somebody may be listening in. If you know why it changed, run: "
        + "ssh-keygen -R '\(name)' -f '\(place.file)'")
  }

  func unknown(_ key: HostKey, _ otherTypes: [String]) -> SSHError {
    var message = "The host's \(key.typeName) key, \(key.fingerprint), is not known"
    if !otherTypes.isEmpty {
      message += "; known for this host is only \(otherTypes.joined(separator: ", "))"
    }
    return SSHError(
      .hostKey, .hostKeyUnknown, host: host.text, message,
      advice: "Compare the fingerprint with the host's own, then confirm it by running: "
        + sshCommand)
  }

  /// The host offers a certificate, and the user trusts an authority for it.
  func withAuthority(_ error: SSHError) -> SSHError {
    var error = error
    error.message +=
      "; known_hosts trusts a certificate authority for the host (@cert-authority), and the host "
      + "has a certificate, but libssh2 cannot check that"
    error.beyondLibSSH2 = "host certificates"
    return error
  }

  /// Names the host as the user does, so that its own configuration, like a ProxyJump, counts.
  private var sshCommand: String {
    var words = ["ssh"]
    if let file = options.configurationFile { words += ["-F", "'\(file)'"] }
    if let port = host.port { words += ["-p", String(port)] }
    words.append((host.user.map { $0 + "@" } ?? "") + host.name)
    return words.joined(separator: " ")
  }
}
