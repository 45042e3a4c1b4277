/// The lines of the known_hosts files (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT), and what they say.
///
/// Our own reader, since libssh2's takes a `@revoked` key for a good one, knows no patterns, and
/// gives up on a whole file because of one bad line.
struct KnownHosts: Sendable {
  private var lines: [KnownHostLine] = []
  /// ssh_config(5), RevokedHostKeys: bad for every host.
  private var revoked: [(key: HostKey, place: Place)] = []

  init() {}

  mutating func add(revoked keys: RevokedKeys) { revoked += keys.entries }

  /// Adds a file's lines. What cannot be read as a line is passed over, as OpenSSH does.
  mutating func add(file path: String, _ content: [UInt8]) {
    for (index, line) in content.split(separator: 0x0A, omittingEmptySubsequences: false)
      .enumerated()
    {
      if let line = KnownHostLine(line, file: path, number: index + 1) { lines.append(line) }
    }
  }

  /// What is known about a key that a host showed.
  enum Verdict: Equatable {
    case known
    /// No key of this type is known. `otherTypes`: what is known instead.
    case unknown(otherTypes: [String])
    /// Another key of this type is known.
    case changed(HostKey, Place)
    case revoked(Place)
  }

  /// A line of a file.
  struct Place: Equatable, CustomStringConvertible {
    var file: String
    var number: Int
    var description: String { "\(file):\(number)" }
  }

  func judge(_ key: HostKey, of host: KnownHostName) -> Verdict {
    if let entry = revoked.first(where: { $0.key == key }) { return .revoked(entry.place) }
    let exact = matches(host.primary)
    // As OpenSSH, a key known for the bare name is good on any port; and a revoked key is bad
    // whatever line says so.
    let bare = host.bare.map(matches) ?? []
    for line in exact + bare where line.marker == .revoked && line.key == key {
      return .revoked(line.place)
    }
    let keys = exact.filter { $0.marker == .none }
    if keys.contains(where: { $0.key == key }) { return .known }
    if let line = keys.first(where: { $0.key?.type == key.type }), let other = line.key {
      return .changed(other, line.place)
    }
    if bare.contains(where: { $0.marker == .none && $0.key == key }) { return .known }
    var types: [String] = []
    for line in keys {
      if let type = line.key?.type, !types.contains(type) { types.append(type) }
    }
    return .unknown(otherTypes: types)
  }

  /// Whether a certificate of the host's would be looked at: some authority is trusted for it.
  func hasAuthority(for host: KnownHostName) -> Bool {
    [host.primary, host.bare].compactMap { $0 }.flatMap(matches)
      .contains { $0.marker == .certificateAuthority && $0.key != nil }
  }

  /// The types of the keys known for a host, in the files' order: the server is to be asked for
  /// one of these first, or it may show a key of a type that nobody has recorded.
  func knownTypes(of host: KnownHostName) -> [String] {
    var types: [String] = []
    for name in [host.primary, host.bare].compactMap({ $0 }) {
      for line in matches(name) where line.marker == .none {
        if let type = line.key?.type, !types.contains(type) { types.append(type) }
      }
      if !types.isEmpty { break }
    }
    return types
  }

  private func matches(_ name: String) -> [KnownHostLine] { lines.filter { $0.names(name) } }
}

/// What known_hosts calls a host.
struct KnownHostName: Sendable, Equatable {
  /// Lower case; `[name]:port` off port 22; or the HostKeyAlias.
  let primary: String
  /// The name without its port, if `primary` has one.
  let bare: String?

  init(host: String, port: UInt16, alias: String?) {
    if let alias {
      (primary, bare) = (alias.lowercased(), nil)
    } else if port == 22 {
      (primary, bare) = (host.lowercased(), nil)
    } else {
      (primary, bare) = ("[\(host.lowercased())]:\(port)", host.lowercased())
    }
  }
}
