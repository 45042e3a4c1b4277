/// A generator with a seed, so that a failing run can be repeated (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}

/// `bytes` cut into chunks of 1 to `longest` bytes, at places that the seed decides.
func randomChunks(_ bytes: [UInt8], longest: Int, seed: UInt64) -> [[UInt8]] {
  var generator = SeededGenerator(seed: seed)
  var chunks: [[UInt8]] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = min(Int.random(in: 1...longest, using: &generator), rest.count)
    chunks.append(Array(rest.prefix(count)))
    rest = rest.dropFirst(count)
  }
  return chunks
}

/// Every way to cut `bytes` in two, and the cut into single bytes.
func simpleSplits(_ bytes: [UInt8]) -> [[[UInt8]]] {
  (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] } + [bytes.map { [$0] }]
}
