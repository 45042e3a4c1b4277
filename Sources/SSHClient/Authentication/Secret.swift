import CCrypto

/// A passphrase, a password or an answer: its only copy here, overwritten when it goes.
///
/// Sendable: nothing changes the bytes between the beginning and the end.
final class Secret: @unchecked Sendable {
  private let bytes: UnsafeMutableRawBufferPointer

  /// Takes the bytes over and overwrites the caller's own.
  init(taking source: inout [UInt8]) {
    bytes = .allocate(byteCount: source.count, alignment: 1)
    bytes.copyBytes(from: source)
    source.wipe()
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  var isEmpty: Bool { bytes.isEmpty }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(UnsafeRawBufferPointer(bytes))
  }
}

extension [UInt8] {
  /// Overwrites the bytes, then drops them. Another array that shares them keeps its own.
  mutating func wipe() {
    withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    self = []
  }
}
