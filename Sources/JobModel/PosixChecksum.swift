/// The checksum of cksum(1) (POSIX.1-2017): CRC-32 with the polynomial 0x04C11DB7, highest bit
/// first, over the bytes and then over their count. It guards against mixed-up bytes, not against
/// somebody who wants to deceive.
public struct PosixChecksum: Sendable {
  private var register: UInt32 = 0
  private var count: UInt64 = 0

  /// The checksum of no bytes yet.
  public init() {}

  /// The checksum of `bytes`: the first field that cksum(1) prints for them.
  public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var checksum = PosixChecksum()
    checksum.update(bytes)
    return checksum.value
  }

  /// Takes in the next bytes.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    let taken: Void? = bytes.withContiguousStorageIfAvailable { take($0) }
    if taken == nil { Array(bytes).withUnsafeBufferPointer { take($0) } }
  }

  /// The checksum of the bytes so far.
  public var value: UInt32 {
    var register = register
    var count = count
    while count > 0 {
      register = Self.step(register, UInt8(truncatingIfNeeded: count), Self.table)
      count >>= 8
    }
    return ~register
  }

  private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) {
    let table = Self.table
    var register = register
    for byte in bytes { register = Self.step(register, byte, table) }
    self.register = register
    count += UInt64(bytes.count)
  }

  @inline(__always)
  private static func step(_ register: UInt32, _ byte: UInt8, _ table: [UInt32]) -> UInt32 {
    register << 8 ^ table[Int(UInt8(truncatingIfNeeded: register >> 24) ^ byte)]
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index) << 24) { value, _ in
      value & 0x8000_0000 == 0 ? value << 1 : value << 1 ^ 0x04C1_1DB7
    }
  }
}
