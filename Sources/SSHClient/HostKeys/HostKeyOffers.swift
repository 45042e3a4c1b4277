/// The host key algorithms that the two sides have named, and what ssh could make of them.
struct HostKeyOffers: Sendable {
  var ours: [String] = []
  var server: [String] = []

  /// Whether the server has a key with a certificate.
  var hasCertificate: Bool { server.contains { $0.contains("-cert-v01@") } }

  /// Of the types that are known for the host, one that the server has too and that we could not
  /// ask for, though the configuration allows it: with that one ssh would be content.
  func typeOnlySSHCanAskFor(known types: [String], allowed: [String]?) -> String? {
    types.first { type in
      let names = Self.signatureNames(of: type)
      return names.contains { server.contains($0) && allowed?.contains($0) == true }
        && !names.contains(where: ours.contains)
    }
  }

  /// RFC 8332: an RSA key has three signature algorithms.
  static func signatureNames(of type: String) -> [String] {
    type == "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"] : [type]
  }
}
