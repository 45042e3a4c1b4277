/// `text` on one line and without anything a terminal would obey: line ends and tabs become spaces,
/// other controls are shown. For what others chose (titles, names, a server's words) within a line
/// of ours, on a terminal or not.
func printable(_ text: some StringProtocol) -> String {
  var sanitizer = TerminalSanitizer(allowsColour: false)
  var bytes = sanitizer.sanitize(text.utf8)
  bytes += sanitizer.finish()
  let oneLine = bytes.map { $0 == 0x0A || $0 == 0x0D || $0 == 0x09 ? UInt8(ascii: " ") : $0 }
  return String(decoding: oneLine, as: UTF8.self)
}

/// How many columns a terminal gives to `text`: Hangul, Han, kana and emoji take two.
/// After Unicode Standard Annex 11, simplified: ambiguous characters count one.
func displayWidth(of text: some StringProtocol) -> Int {
  text.reduce(0) { $0 + width(of: $1) }
}

/// `text` cut to `width` columns, the last of them `…` when something was cut.
func fitted(_ text: String, to width: Int) -> String {
  guard displayWidth(of: text) > width else { return text }
  guard width > 0 else { return "" }
  var kept = ""
  var used = 0
  for character in text {
    let next = used + pocket.width(of: character)
    if next > width - 1 { break }
    used = next
    kept.append(character)
  }
  return kept + "…"
}

/// `text` with spaces to `width` columns.
func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - displayWidth(of: text)))
}

private func width(of character: Character) -> Int {
  var widest = 0
  for scalar in character.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: continue
    default: widest = max(widest, isWide(scalar) ? 2 : 1)
    }
  }
  return widest
}

private func isWide(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
    0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
    true
  default: false
  }
}
