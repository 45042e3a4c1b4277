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
  /// Numeric, as getnameinfo(3) writes it: `127.0.0.1:22`, `[::1]:22`.
  let description: String

  init?(_ info: addrinfo) {
    guard let address = info.ai_addr else { return nil }
    bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
    domain = info.ai_family
    var host = [CChar](repeating: 0, count: 1025)
    var service = [CChar](repeating: 0, count: 32)
    let code = getnameinfo(
      address, info.ai_addrlen, &host, socklen_t(host.count), &service, socklen_t(service.count),
      NI_NUMERICHOST | NI_NUMERICSERV)
    guard code == 0 else { return nil }
    let name = host.text
    description = (domain == AF_INET6 ? "[\(name)]" : name) + ":" + service.text
  }

  /// A non-blocking socket that has begun to connect here.
  func beginConnecting() -> Result<Int32, SystemError> {
    let socket = pocket_stream_socket(domain)
    guard socket >= 0 else { return .failure(.last()) }
    let code = bytes.withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: sockaddr.self) {
        connect(socket, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    if code == 0 || errno == EINPROGRESS { return .success(socket) }
    let error = SystemError.last()
    close(socket)
    return .failure(error)
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
