/// Which algorithms the configuration allows, in order of preference; nil leaves libssh2's own list.
/// As `ssh -G` gives them, they are also what this machine's ssh can do.
struct AlgorithmPreferences: Sendable, Equatable {
  var keyExchange: [String]?
  var hostKey: [String]?
  var ciphers: [String]?
  var macs: [String]?

  /// What the user's ssh could agree upon with a server that offers this, as a noun phrase: nil
  /// when ssh would fail as well.
  func whatSSHCanDo(
    of missing: [(purpose: AlgorithmOffer.Purpose, offered: [String])]
  ) -> String? {
    var phrases: [String] = []
    for (purpose, offered) in missing {
      guard let ours = self[purpose] else { return nil }
      let shared = offered.filter(ours.contains)
      if shared.isEmpty { return nil }
      let noun = purpose == .hostKey ? "host key algorithm" : purpose.rawValue
      phrases.append("the \(noun) \(shared.joined(separator: " or "))")
    }
    return phrases.joined(separator: ", ")
  }

  private subscript(_ purpose: AlgorithmOffer.Purpose) -> [String]? {
    switch purpose {
    case .keyExchange: keyExchange
    case .hostKey: hostKey
    case .cipher: ciphers
    case .mac: macs
    }
  }
}

/// The algorithm lists of one side, RFC 4253 §7.1.
struct AlgorithmOffer: Equatable {
  /// What a list is for, as errors call it.
  enum Purpose: String, CaseIterable {
    case keyExchange = "key exchange"
    case hostKey = "host key"
    case cipher
    case mac = "MAC"
  }

  var keyExchange: [String]
  var hostKey: [String]
  var cipher: [String]
  var mac: [String]

  init?(_ packet: inout PacketReader) {
    packet.skip(16)
    var lists: [[String]] = []
    for _ in 0..<6 {
      guard let list = packet.text() else { return nil }
      lists.append(list.split(separator: ",").map(String.init))
    }
    (keyExchange, hostKey, cipher, mac) = (lists[0], lists[1], lists[2], lists[4])
  }

  /// For which purposes the two sides have nothing in common, with what the server offers.
  func missing(from server: AlgorithmOffer) -> [(purpose: Purpose, offered: [String])] {
    Purpose.allCases.filter { Set(self[$0]).isDisjoint(with: server[$0]) }
      .map { ($0, server[$0]) }
  }

  private subscript(_ purpose: Purpose) -> [String] {
    switch purpose {
    case .keyExchange: keyExchange
    case .hostKey: hostKey
    case .cipher: cipher
    case .mac: mac
    }
  }
}
