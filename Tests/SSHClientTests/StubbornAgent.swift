import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import SSHClient

#if canImport(Darwin)
  private let stream = SOCK_STREAM
#else
  private let stream = Int32(SOCK_STREAM.rawValue)
#endif

/// A stand-in for the agents that do not heed the flags of a request and sign RSA by a hash of their
/// own choice (old ones know SHA-1 only). No agent that can be installed here does.
final class StubbornAgent: Sendable {
  let path: String
  private let listener: Int32

  /// - Parameter algorithm: what it signs with, whatever it is asked for; nil refuses to sign.
  init(_ folder: TemporaryFolder, _ key: SigningKey, algorithm: String?) throws {
    path = folder["stubborn"]
    listener = socket(AF_UNIX, stream, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) {
      $0.copyBytes(from: path.utf8CString.map { UInt8(bitPattern: $0) })
    }
    unlink(path)
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 }
    }
    guard isBound, listen(listener, 5) == 0 else { throw SystemError("listen") }
    let descriptor = listener
    TestSupport.startThread {
      while true {
        let peer = accept(descriptor, nil, nil)
        guard peer >= 0 else { return }
        if let request = Self.readMessage(peer) {
          var answer: [UInt8] = []
          answer.appendField(Self.answer(to: request, key, algorithm))
          _ = answer.withUnsafeBytes { write(peer, $0.baseAddress, $0.count) }
        }
        close(peer)
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)); close(listener) }

  private static func readMessage(_ peer: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(peer, &chunk, chunk.count)
      guard count > 0 else { return nil }
      bytes += chunk[..<count]
      let whole = bytes.withUnsafeBytes { bytes in
        var reader = PacketReader(bytes[...])
        return reader.bytes()
      }
      if let whole { return whole }
    }
  }

  private static func answer(
    to request: [UInt8], _ key: SigningKey, _ algorithm: String?
  ) -> [UInt8] {
    request.withUnsafeBytes { bytes -> [UInt8] in
      var reader = PacketReader(bytes[...])
      var answer: [UInt8] = []
      switch reader.byte() {
      case 11:
        answer = [12]
        answer.appendNumber(1)
        answer.appendField(key.publicKey)
        answer.appendField([UInt8]("stubborn".utf8))
      case 13:
        guard reader.bytes() != nil, let data = reader.bytes(), let algorithm,
          let signed = key.sign(data, algorithm)
        else { return [5] }
        var signature: [UInt8] = []
        signature.appendField([UInt8](algorithm.utf8))
        signature.appendField(signed)
        answer = [14]
        answer.appendField(signature)
      default: answer = [5]
      }
      return answer
    }
  }
}
