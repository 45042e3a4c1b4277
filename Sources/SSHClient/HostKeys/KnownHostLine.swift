/// One line of a known_hosts file.
struct KnownHostLine: Sendable {
  enum Marker: Sendable { case none, certificateAuthority, revoked }

  let marker: Marker
  let place: KnownHosts.Place
  /// nil when it cannot be read: then the line says nothing.
  let key: HostKey?
  private let hosts: [UInt8]

  /// nil for an empty line, a comment, an unknown marker, or too few fields.
  init?(_ line: ArraySlice<UInt8>, file: String, number: Int) {
    var words = Self.words(line)[...]
    guard let first = words.first, first.first != UInt8(ascii: "#") else { return nil }
    if first.first == UInt8(ascii: "@") {
      // OpenSSH wants a space behind the marker and passes over a line with a tab there. For a
      // revoked key that would be a pity.
      switch String(decoding: first, as: UTF8.self) {
      case "@cert-authority": marker = .certificateAuthority
      case "@revoked": marker = .revoked
      default: return nil
      }
      words.removeFirst()
    } else {
      marker = .none
    }
    // A second marker is none of a host's names.
    guard let names = words.popFirst(), names.first != UInt8(ascii: "@"), words.count >= 2 else {
      return nil
    }
    hosts = [UInt8](names)
    key = HostKey(words: words)
    place = KnownHosts.Place(file: file, number: number)
  }

  /// A line's words, the first five at most. As for OpenSSH, a NUL ends the line, and the carriage
  /// return of CRLF belongs to the last word.
  static func words(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    line.prefix { $0 != 0 }.split(maxSplits: 4) { $0 == 0x20 || $0 == 0x09 }
  }

  /// Whether the line is about this host (in lower case).
  func names(_ name: String) -> Bool {
    if hosts.first == HashedHost.delimiter { return HashedHost.matches(hosts, name) }
    let name = [UInt8](name.utf8)
    var isNamed = false
    for pattern in hosts.split(separator: UInt8(ascii: ",")) {
      let isNegated = pattern.first == UInt8(ascii: "!")
      let pattern = isNegated ? pattern.dropFirst() : pattern
      if pattern.count >= Pattern.limit { return false }
      guard Pattern.matches(pattern, name[...]) else { continue }
      // ssh_config(5), PATTERNS: a negated match rules the whole list out.
      if isNegated { return false }
      isNamed = true
    }
    return isNamed
  }
}
