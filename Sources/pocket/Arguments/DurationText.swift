/// A length of time as a user writes it: a whole number and one unit, `45s`, `90m`, `12h`, `30d`,
/// `2w`. Nothing else is understood: what a bare number means, people disagree about.
struct DurationText: Sendable, Hashable {
  /// The length in seconds, more than 0.
  let seconds: Int64

  private static let units: [UInt8: Int64] = [
    UInt8(ascii: "s"): 1, UInt8(ascii: "m"): 60, UInt8(ascii: "h"): 3600,
    UInt8(ascii: "d"): 86_400, UInt8(ascii: "w"): 604_800,
  ]
  /// A hundred years: what is longer is a mistake, and what is far longer does not fit a host's shell.
  private static let longest: Int64 = 100 * 366 * 86_400

  /// Takes the text; nil when it is not so written, 0, or over a hundred years.
  init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard let unit = bytes.last.flatMap({ Self.units[$0] }), bytes.count > 1,
      bytes.dropLast().allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(String(decoding: bytes.dropLast(), as: UTF8.self))
    else { return nil }
    let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit)
    guard !isTooLong, (1...Self.longest).contains(seconds) else { return nil }
    self.seconds = seconds
  }
}

extension Invocation {
  /// The value of an option that is a length of time, in seconds; nil when it was not given.
  func seconds(_ key: OptionKey<Word?>) throws(UsageError) -> Int64? {
    guard let word = self[key] else { return nil }
    guard let duration = DurationText(word.shown) else {
      throw UsageError(
        "'\(printable(word.shown))' is no length of time for --\(key.spec.long)",
        hint: "write a number and a unit: 45s, 90m, 12h, 30d or 2w")
    }
    return duration.seconds
  }
}
