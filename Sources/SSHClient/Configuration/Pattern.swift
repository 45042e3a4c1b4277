/// `*` and `?` as ssh_config(5) has them. A host's name is in lower case, and so its patterns are
/// taken to be.
enum Pattern {
  /// A list with a pattern as long as this matches nothing in OpenSSH, and so nothing here.
  static let limit = 1023

  static func matches(
    _ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>, ignoringCase: Bool = true
  ) -> Bool {
    var (pattern, name) = (pattern, name)
    // Where to go on when what follows the last star does not fit: one byte later.
    var retry: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
    while true {
      switch pattern.first {
      case UInt8(ascii: "*"):
        pattern = pattern.dropFirst()
        retry = (pattern, name)
        continue
      case let byte?
      where !name.isEmpty
        && (byte == UInt8(ascii: "?") || fits(byte, name.first, ignoringCase)):
        (pattern, name) = (pattern.dropFirst(), name.dropFirst())
        continue
      case nil where name.isEmpty:
        return true
      default:
        guard let last = retry, !last.name.isEmpty else { return false }
        retry = (last.pattern, last.name.dropFirst())
        (pattern, name) = (last.pattern, last.name.dropFirst())
      }
    }
  }

  private static func fits(_ byte: UInt8, _ other: UInt8?, _ ignoringCase: Bool) -> Bool {
    let isUpper = ignoringCase && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    return (isUpper ? byte | 0x20 : byte) == other
  }
}
