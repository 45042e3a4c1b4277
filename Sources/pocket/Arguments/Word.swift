/// One argument as the kernel gave it: any bytes but NUL. A prompt or a path need not be UTF-8.
struct Word: Hashable, Sendable, ExpressibleByStringLiteral {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
  init(stringLiteral text: String) { self.init(text) }

  /// The text, or nil when the bytes are not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The text for a message: what is not UTF-8 shows as U+FFFD.
  var shown: String { String(decoding: bytes, as: UTF8.self) }
}

extension Word {
  /// This process's arguments, the program's name left out. `CommandLine.arguments` would repair
  /// what is not UTF-8, and a prompt must arrive byte for byte.
  static func ofThisProcess() -> [Word] {
    var words: [Word] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let start = CommandLine.unsafeArgv[index] else { break }
      words.append(Word(bytesOfCString(start)))
    }
    return words
  }

  /// The bytes before the NUL.
  static func bytesOfCString(_ start: UnsafePointer<CChar>) -> [UInt8] {
    var bytes: [UInt8] = []
    var next = start
    while next.pointee != 0 {
      bytes.append(UInt8(bitPattern: next.pointee))
      next += 1
    }
    return bytes
  }
}
