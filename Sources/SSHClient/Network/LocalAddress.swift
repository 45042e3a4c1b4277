#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The local address that a connection is to come from (ssh_config(5), BindAddress and
/// BindInterface). The functions block.
enum LocalAddress {
  /// nil when the configuration asks for none.
  static func candidates(
    _ network: NetworkSettings
  ) -> Result<[SocketAddress], LocalAddressError>? {
    // As ssh: BindAddress goes before BindInterface.
    if let name = network.bindAddress {
      let found = SocketAddress.lookUp(name, port: nil, network.addressFamily)
      return found.mapError { LocalAddressError(words: "BindAddress \(name): \($0.words)") }
    }
    return network.bindInterface.map(addresses(of:))
  }

  private static func addresses(
    of interface: String
  ) -> Result<[SocketAddress], LocalAddressError> {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else {
      return .failure(
        LocalAddressError(words: "BindInterface \(interface): \(SystemError.last().words)"))
    }
    defer { freeifaddrs(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ifa_next
      if String(cString: entry.ifa_name) == interface, let address = entry.ifa_addr,
        let address = SocketAddress(address)
      {
        found.append(address)
      }
    }
    if found.isEmpty {
      return .failure(LocalAddressError(words: "The interface \(interface) has no address"))
    }
    // As ssh: a link-local address only where there is no other.
    return .success(found.filter { !$0.isLinkLocal } + found.filter { $0.isLinkLocal })
  }
}

struct LocalAddressError: Error {
  var words: String
}
