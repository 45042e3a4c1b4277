/// A job's identity, chosen by the client before the first byte leaves: twelve characters,
/// `[a-z][a-z0-9]{11}`, so that it is safe as a file name and as a shell word everywhere.
public struct JobID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// How many characters an id has.
  public static let length = 12

  /// The id's text.
  public let description: String

  /// Takes `text` if it has the shape of an id, else nil.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == Self.length, Self.isLetter(bytes[0]),
      bytes.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) })
    else { return nil }
    description = String(decoding: bytes, as: UTF8.self)
  }

  /// A fresh random id: 26 · 36¹¹ possibilities (about 61 bits).
  public static func random(using generator: inout some RandomNumberGenerator) -> JobID {
    let letters = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    let all = letters + Array("0123456789".utf8)
    var bytes = [letters[Int.random(in: 0..<letters.count, using: &generator)]]
    for _ in 1..<length { bytes.append(all[Int.random(in: 0..<all.count, using: &generator)]) }
    return JobID(checked: String(decoding: bytes, as: UTF8.self))
  }

  /// A fresh random id from the system's generator.
  public static func random() -> JobID {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  private init(checked text: String) { description = text }

  /// The order of the texts; it says nothing about time.
  public static func < (left: JobID, right: JobID) -> Bool { left.description < right.description }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
