/// Why libssh2 cannot use a key. What the `ssh` program could do with it is another matter.
struct KeyLimit: Sendable, Equatable {
  /// For `SSHError.beyondLibSSH2`.
  var noun: String
  /// What is the matter, and what to do about it.
  var explanation: String
  /// Whether the server can be asked if it would take the key.
  var canBeAskedAbout = true

  /// nil when nothing is the matter.
  init?(_ candidate: KeyCandidate, _ abilities: LibSSH2Abilities, _ software: ServerSoftware) {
    let type = candidate.type
    if type.hasPrefix("sk-") {
      self.init(noun: "security keys", explanation: "libssh2 cannot use a security key")
      return
    }
    if candidate.isRSA, abilities.isRSASafeOnlyWithOpenSSH, software.openSSH == nil {
      // Not even a question is safe.
      self.init(
        noun: "RSA keys on a server other than OpenSSH",
        explanation: "this libssh2 is not safe with an RSA key and this server; "
          + "make another with `ssh-keygen -t ed25519`", canBeAskedAbout: false)
      return
    }
    if type.hasSuffix(Certificate.suffix), !type.hasPrefix("ecdsa-"),
      !abilities.canUseEveryCertificate
    {
      // Servers of today refuse the only name under which 1.10 can ask about RSA.
      let kind = candidate.isRSA ? "an RSA certificate" : "an Ed25519 certificate"
      self.init(
        noun: kind, explanation: "libssh2 1.10 cannot use \(kind)",
        canBeAskedAbout: !candidate.isRSA)
      return
    }
    return nil
  }

  private init(noun: String, explanation: String, canBeAskedAbout: Bool = true) {
    (self.noun, self.explanation) = (noun, explanation)
    self.canBeAskedAbout = canBeAskedAbout
  }
}
