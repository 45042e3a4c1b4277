/// The file of RevokedHostKeys (ssh_config(5)): public keys, one a line.
struct RevokedKeys: Sendable {
  private(set) var entries: [(key: HostKey, place: KnownHosts.Place)] = []

  /// What a key revocation list begins with (PROTOCOL.krl of OpenSSH).
  private static let listMagic = Array("SSHKRL\n\0".utf8)

  /// Blocks.
  ///
  /// - Throws: `SSHError`: a file that cannot be read revokes every key, as for ssh.
  init(path: String, host: String) throws(SSHError) {
    try UserFiles.check(path, host: host)
    let content: [UInt8]
    switch UserFiles.read(path) {
    case .success(let bytes): content = bytes
    case .failure(let error):
      throw SSHError(
        .hostKey, .badConfiguration, host: host,
        "No host key can be trusted: RevokedHostKeys names \(path), which cannot be read "
          + "(\(error.words))")
    }
    if content.starts(with: Self.listMagic) {
      throw SSHError(
        .hostKey, .badConfiguration, host: host,
        "RevokedHostKeys names \(path), a key revocation list, which cannot be read here",
        advice: "A file of public keys, one a line, can be",
        beyondLibSSH2: "a key revocation list")
    }
    for (index, line) in content.split(separator: 0x0A, omittingEmptySubsequences: false)
      .enumerated()
    {
      if let key = HostKey(words: KnownHostLine.words(line)[...]) {
        entries.append((key, KnownHosts.Place(file: path, number: index + 1)))
      }
    }
  }
}
