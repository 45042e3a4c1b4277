#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension UnsafeBufferPointer<UInt8> {
  /// The index of the first 0x0A, by memchr(3): bytes come by the gigabyte.
  var firstNewline: Int? {
    guard let start = baseAddress, let found = memchr(start, 0x0A, count) else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(start)
  }

  /// The index of the last 0x0A.
  var lastNewline: Int? {
    var index = count
    while index > 0 {
      index -= 1
      if self[index] == 0x0A { return index }
    }
    return nil
  }
}
