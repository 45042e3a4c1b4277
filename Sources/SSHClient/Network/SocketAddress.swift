import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One numeric address and port.
struct SocketAddress: Sendable, CustomStringConvertible {
  private let bytes: [UInt8]
  private let domain: Int32
  /// Numeric, as getnameinfo(3) writes it, without brackets: `127.0.0.1`, `::1`.
  let host: String
  /// With the port: `127.0.0.1:22`, `[::1]:22`.
  let description: String

  /// nil for what is no internet address.
  init?(_ address: UnsafePointer<sockaddr>) {
    domain = Int32(address.pointee.sa_family)
    let size: Int
    switch domain {
    case AF_INET: size = MemoryLayout<sockaddr_in>.size
    case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
    default: return nil
    }
    bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: size))
    var host = [CChar](repeating: 0, count: 1025)
    var service = [CChar](repeating: 0, count: 32)
    let code = getnameinfo(
      address, socklen_t(size), &host, socklen_t(host.count), &service, socklen_t(service.count),
      NI_NUMERICHOST | NI_NUMERICSERV)
    guard code == 0 else { return nil }
    self.host = host.text
    description = (domain == AF_INET6 ? "[\(host.text)]" : host.text) + ":" + service.text
  }

  var isLoopback: Bool { host == "::1" || (domain == AF_INET && host.hasPrefix("127.")) }
  /// RFC 4291 §2.5.6.
  var isLinkLocal: Bool { domain == AF_INET6 && host.lowercased().hasPrefix("fe80:") }

  func isOfSameKind(as other: SocketAddress) -> Bool { domain == other.domain }

  /// All addresses of a name; blocks.
  static func lookUp(
    _ name: String, port: UInt16?, _ family: NetworkSettings.AddressFamily
  ) -> Result<[SocketAddress], ResolverError> {
    var hints = addrinfo()
    hints.ai_family = family.domain
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, port.map { String($0) }, &hints, &list)
    guard code == 0 else {
      return .failure(ResolverError(words: String(cString: gai_strerror(code))))
    }
    defer { freeaddrinfo(list) }
    return .success(
      sequence(first: list, next: { $0?.pointee.ai_next }).prefix(while: { $0 != nil })
        .compactMap { $0?.pointee.ai_addr.flatMap { SocketAddress($0) } })
  }

  /// A non-blocking socket that has begun to connect here, from `local` if that is given.
  func beginConnecting(from local: SocketAddress?) -> Result<Int32, SystemError> {
    let socket = pocket_stream_socket(domain)
    guard socket >= 0 else { return .failure(.last()) }
    if let local, local.with({ bind(socket, $0, $1) }) != 0 { return failed(socket) }
    if with({ connect(socket, $0, $1) }) == 0 || errno == EINPROGRESS { return .success(socket) }
    return failed(socket)
  }

  private func failed(_ socket: Int32) -> Result<Int32, SystemError> {
    let error = SystemError.last()
    close(socket)
    return .failure(error)
  }

  private func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return -1 }
      return body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(buffer.count))
    }
  }
}

/// getaddrinfo(3)'s words.
struct ResolverError: Error {
  let words: String
}

extension NetworkSettings.AddressFamily {
  fileprivate var domain: Int32 {
    switch self {
    case .any: AF_UNSPEC
    case .inet: AF_INET
    case .inet6: AF_INET6
    }
  }
}

/// An `errno` value.
struct SystemError: Error, Sendable {
  let code: Int32
  static func last() -> SystemError { SystemError(code: errno) }
  /// strerror(3)'s words.
  var words: String { String(cString: strerror(code)) }
}

extension [CChar] {
  /// The characters before the first NUL.
  var text: String {
    String(decoding: prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension Duration {
  /// For poll(2): whole milliseconds, rounded up so that a deadline has passed when poll returns.
  var pollMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    if seconds < 0 { return 0 }
    let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(clamping: milliseconds)
  }
}
