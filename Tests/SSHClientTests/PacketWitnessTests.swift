import Testing

@testable import SSHClient

/// Packets and other memory look alike where libssh2 frees them.
@Suite struct PacketWitnessTests {
  private func words(of block: [UInt8]) -> String? {
    let witness = PacketWitness()
    block.withUnsafeBytes { witness.observe($0) }
    return witness.disconnect
  }

  @Test func aGoodbyeIsRead() {
    let bye = Array("bye".utf8)
    #expect(words(of: [1, 0, 0, 0, 11, 0, 0, 0, 3] + bye + [0, 0, 0, 0]) == "bye")
    // A block may be larger than what was written to it.
    #expect(words(of: [1, 0, 0, 0, 2, 0, 0, 0, 3] + bye + [0, 0, 0, 0, 9, 9]) == "bye")
  }

  /// Both were freed by 1.11.1: the state of chacha20 at a connection's end, and memory with a
  /// pointer of the heap in front, after a signature that nobody gave.
  @Test(arguments: [[1, 0, 0, 0, 7], [1, 64, 69, 245, 7] as [UInt8]])
  func otherMemoryIsNoGoodbye(start: [UInt8]) {
    let zeros = [UInt8](repeating: 0, count: 19)
    let rest = Array("expand 32-byte k".utf8) + [UInt8](repeating: 200, count: 112)
    #expect(words(of: start + zeros + rest) == nil)
    #expect(words(of: start + zeros + [UInt8](repeating: 0, count: 16)) == nil)
  }
}
