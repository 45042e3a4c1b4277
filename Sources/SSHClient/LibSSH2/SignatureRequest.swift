import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A signature that libssh2 waits for: its callback answers EAGAIN until it is there.
///
/// Sendable: it is touched on the connection's thread only, by the callback and by a task of the
/// connection's actor.
final class SignatureRequest: @unchecked Sendable {
  struct Order: Sendable {
    var data: [UInt8]
    /// The algorithm that `data` itself names (RFC 4252 §7): any other would make it void.
    var algorithm: String
  }

  enum State {
    case idle
    case asked(Order)
    case signing
    case answered(Result<[UInt8], SSHError>)
    /// Nobody wants to sign: the question is all that is of interest.
    case declined(wasAsked: Bool)
  }

  var state = State.idle
}

extension SignatureRequest.Order {
  /// RFC 4252 §7: session identifier, the request's number, user, service, method, TRUE, algorithm.
  init?(_ data: [UInt8]) {
    let algorithm = data.withUnsafeBytes { bytes -> String? in
      var reader = PacketReader(bytes[...])
      guard reader.bytes() != nil, reader.byte() != nil, reader.bytes() != nil,
        reader.bytes() != nil, reader.bytes() != nil, reader.byte() != nil
      else { return nil }
      return reader.text()
    }
    guard let algorithm else { return nil }
    self.init(data: data, algorithm: algorithm)
  }
}

func answerSignatureRequest(
  _ session: OpaquePointer?, _ signature: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?,
  _ length: UnsafeMutablePointer<Int>?, _ data: UnsafePointer<UInt8>?, _ dataLength: Int,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
  guard let pointer = context?.pointee, let signature, let length, let data else { return -1 }
  let request = Unmanaged<SignatureRequest>.fromOpaque(pointer).takeUnretainedValue()
  switch request.state {
  case .idle:
    let data = [UInt8](UnsafeBufferPointer(start: data, count: dataLength))
    guard let order = SignatureRequest.Order(data) else { return -1 }
    request.state = .asked(order)
    return LIBSSH2_ERROR_EAGAIN
  case .asked, .signing: return LIBSSH2_ERROR_EAGAIN
  case .declined:
    request.state = .declined(wasAsked: true)
    return -1
  case .answered(.failure): return -1
  case .answered(.success(let bytes)):
    // libssh2 frees it with the session's `free`, which is the system's.
    guard let copy = malloc(bytes.count) else { return -1 }
    bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    signature.pointee = copy.assumingMemoryBound(to: UInt8.self)
    length.pointee = bytes.count
    return 0
  }
}
