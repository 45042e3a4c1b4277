#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One JSON object on one line. Keys are sorted, so that output is stable; keys are only ever added.
enum JSONLine {
  static func bytes(of value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(value)) + [0x0A]
    } catch {
      // Only a number that is not finite cannot be encoded, and no value here has one.
      preconditionFailure("a value that JSON cannot hold: \(error)")
    }
  }
}
