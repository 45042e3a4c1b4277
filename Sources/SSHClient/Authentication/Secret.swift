import CCrypto

/// A passphrase, a password or an answer: its only copy here, overwritten when it goes.
///
/// Sendable: nothing changes the bytes between the beginning and the end.
final class Secret: @unchecked Sendable {
  /// With a NUL behind, for C.
  private let bytes: UnsafeMutableRawBufferPointer

  /// Takes the bytes over and overwrites the caller's own.
  init(taking source: inout [UInt8]) {
    bytes = .allocate(byteCount: source.count + 1, alignment: 1)
    bytes.copyBytes(from: source)
    bytes[source.count] = 0
    source.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    source = []
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  var isEmpty: Bool { bytes.count == 1 }

  /// The bytes without their NUL, which stands behind them.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).dropLast()))
  }
}
