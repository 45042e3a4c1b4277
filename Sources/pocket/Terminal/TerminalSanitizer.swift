/// Makes a job's output harmless to a terminal: text, line ends, tabs and colour (SGR) pass, and
/// everything else that a terminal would obey is shown instead of done. Nothing is swallowed: a
/// sequence that is only begun must not hide the text behind it.
///
/// It takes a stream in chunks of any size; what a chunk leaves unfinished is held back (at most
/// 66 bytes). Sources: ECMA-48 (control functions), Unicode 15 §3.9 (ill-formed UTF-8).
struct TerminalSanitizer: Sendable {
  /// Whether colour passes; otherwise SGR sequences are left out.
  let allowsColour: Bool
  /// Whether a colour is on, as far as this stream's output went.
  private(set) var isColoured = false

  private enum State {
    case ground, escape, carriageReturn
    case sequence(parameters: [UInt8])
    case scalar(bytes: [UInt8], length: Int)
  }
  private var state = State.ground

  /// Longer SGR sequences are not colour but an attempt at something.
  private static let longestSequence = 64

  init(allowsColour: Bool) { self.allowsColour = allowsColour }

  /// What of `bytes`, and of what was held back, may go to the terminal.
  mutating func sanitize(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    for byte in bytes { take(byte, &output) }
    return output
  }

  /// What was held back, when the stream has ended.
  mutating func finish() -> [UInt8] {
    var output: [UInt8] = []
    flush(&output)
    return output
  }

  /// Forgets a colour, after the caller has turned it off on the terminal.
  mutating func colourWasReset() { isColoured = false }

  private mutating func take(_ byte: UInt8, _ output: inout [UInt8]) {
    switch state {
    case .ground:
      takeInGround(byte, &output)
    case .carriageReturn:
      // At a line's end it does nothing. Elsewhere it would write over what stands in the line, so
      // the line is ended instead: a progress bar becomes lines, and no text is hidden.
      state = .ground
      if byte == Self.lineFeed {
        output += [Self.carriageReturn]
      } else {
        output += [Self.lineFeed]
      }
      takeInGround(byte, &output)
    case .escape:
      if byte == UInt8(ascii: "[") {
        state = .sequence(parameters: [])
      } else {
        flush(&output)
        takeInGround(byte, &output)
      }
    case .sequence(var parameters):
      // 0x30...0x3B: digits, `:` and `;`. Others (`?`, `>`) make a private sequence, not colour.
      if (0x30...0x3B).contains(byte), parameters.count < Self.longestSequence {
        parameters.append(byte)
        state = .sequence(parameters: parameters)
      } else if byte == UInt8(ascii: "m") {
        state = .ground
        guard allowsColour else { return }
        output += [Self.escape, UInt8(ascii: "[")] + parameters + [byte]
        isColoured = !parameters.allSatisfy { $0 == UInt8(ascii: "0") }
      } else {
        flush(&output)
        takeInGround(byte, &output)
      }
    case .scalar(var bytes, let length):
      bytes.append(byte)
      guard Self.isWellFormedPrefix(bytes) else {
        flush(&output)
        takeInGround(byte, &output)
        return
      }
      if bytes.count < length {
        state = .scalar(bytes: bytes, length: length)
      } else {
        state = .ground
        // U+0080...U+009F are C1 controls: CSI, OSC, DCS and their like in one character.
        let isControl = bytes[0] == 0xC2 && bytes[1] < 0xA0
        output += isControl ? Self.replacement : bytes
      }
    }
  }

  private mutating func takeInGround(_ byte: UInt8, _ output: inout [UInt8]) {
    switch byte {
    case Self.lineFeed, UInt8(ascii: "\t"), 0x20...0x7E: output.append(byte)
    case Self.escape: state = .escape
    case Self.carriageReturn: state = .carriageReturn
    case 0x00...0x1F: output += Self.picture(of: byte)
    case 0x7F: output += [0xE2, 0x90, 0xA1]
    case 0xC2...0xDF: state = .scalar(bytes: [byte], length: 2)
    case 0xE0...0xEF: state = .scalar(bytes: [byte], length: 3)
    case 0xF0...0xF4: state = .scalar(bytes: [byte], length: 4)
    default: output += Self.replacement  // no UTF-8; 0x80...0x9F alone would be C1
    }
  }

  /// Shows what was held back.
  private mutating func flush(_ output: inout [UInt8]) {
    switch state {
    case .ground: break
    case .carriageReturn: output += [Self.lineFeed]
    case .escape: output += Self.picture(of: Self.escape)
    case .sequence(let parameters):
      output += Self.picture(of: Self.escape) + [UInt8(ascii: "[")] + parameters
    case .scalar: output += Self.replacement
    }
    state = .ground
  }

  private static let lineFeed: UInt8 = 0x0A
  private static let carriageReturn: UInt8 = 0x0D
  private static let escape: UInt8 = 0x1B
  /// U+FFFD.
  private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]
  /// The control picture of a C0 control: U+2400 + byte.
  private static func picture(of byte: UInt8) -> [UInt8] { [0xE2, 0x90, 0x80 + byte] }

  /// Whether a UTF-8 sequence may begin so: Unicode 15, table 3-7.
  private static func isWellFormedPrefix(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 1 else { return true }
    let second: ClosedRange<UInt8> =
      switch bytes[0] {
      case 0xE0: 0xA0...0xBF
      case 0xED: 0x80...0x9F
      case 0xF0: 0x90...0xBF
      case 0xF4: 0x80...0x8F
      default: 0x80...0xBF
      }
    return second.contains(bytes[1]) && bytes.dropFirst(2).allSatisfy { 0x80...0xBF ~= $0 }
  }
}
