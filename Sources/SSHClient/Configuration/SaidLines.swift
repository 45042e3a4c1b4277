/// The lines that a program has said on stderr. ssh ends its own with CR and LF, which Swift takes for
/// one character that is not "\n": so bytes are parted, and not a String.
func saidLines(_ bytes: [UInt8]) -> [String] {
  bytes.split(separator: 0x0A).map { String(saidLine: $0) }
}

extension String {
  /// A line that a program has said, without its LF.
  init(saidLine line: ArraySlice<UInt8>) {
    self.init(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
  }
}
