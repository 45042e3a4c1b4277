/// A number of bytes as a user writes it: a whole number and one unit, `512B`, `64k`, `500M`, `2G`,
/// `1T` (powers of 1000), or `64Ki`, `500Mi`, `2Gi`, `1Ti` (powers of 1024). Nothing else is
/// understood.
struct ByteCountText: Sendable, Hashable {
  /// The number, more than 0.
  let bytes: Int64

  private static let units: [String: Int64] = [
    "B": 1, "k": 1000, "K": 1000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000,
    "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
  ]

  /// Takes the text; nil when it is not so written, or 0, or too large for any disk.
  init?(_ text: some StringProtocol) {
    let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
    guard !digits.isEmpty, let number = Int64(String(decoding: digits, as: UTF8.self)),
      let unit = Self.units[String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self)]
    else { return nil }
    let (bytes, isTooMany) = number.multipliedReportingOverflow(by: unit)
    guard !isTooMany, bytes > 0 else { return nil }
    self.bytes = bytes
  }
}

extension Invocation {
  /// The value of an option that is a number of bytes; nil when it was not given.
  func bytes(_ key: OptionKey<Word?>) throws(UsageError) -> Int64? {
    guard let word = self[key] else { return nil }
    guard let count = ByteCountText(word.shown) else {
      throw UsageError(
        "'\(printable(word.shown))' is no number of bytes for --\(key.spec.long)",
        hint: "write a number and a unit: 64k, 500M, 2G")
    }
    return count.bytes
  }
}
