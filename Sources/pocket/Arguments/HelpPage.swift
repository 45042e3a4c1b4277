/// Help, made from the command table: examples first, since most people read no further.
enum HelpPage {
  private static let help = OptionSpec(
    long: "help", short: "h", placeholder: nil, repeats: true, completion: .nothing,
    help: "show this page")
  /// Wider than this, and a terminal of 80 columns would break the lines.
  private static let width = 80

  /// The page of one command, or of the whole program when it is the table's root.
  static func text(for command: Command, in table: CommandTable) -> String {
    let isRoot = command.name == table.root.name
    var sections = [wrapped(command.summary, indent: 0)]
    if !command.examples.isEmpty {
      let rows = command.examples.map { ($0.line, $0.note) }
      sections.append("Examples:\n" + columns(rows))
    }
    sections.append("Usage:\n" + usage(of: command, isRoot: isRoot).map { "  \($0)\n" }.joined())
    if isRoot {
      let rows = table.commands.filter { !$0.isHidden }.map { ($0.name, $0.summary) }
      sections.append("Commands:\n" + columns(rows))
    }
    sections.append("Options:\n" + columns((command.options + [help]).map(row)))
    if isRoot, !table.topics.isEmpty {
      sections.append("Topics:\n" + columns(table.topics.map { ("help \($0.name)", $0.summary) }))
    }
    sections += command.notes.map { wrapped($0, indent: 0) }
    return sections.joined(separator: "\n")
  }

  /// The page of a topic.
  static func text(for topic: HelpTopic) -> String { topic.summary + "\n\n" + topic.text + "\n" }

  private static func usage(of command: Command, isRoot: Bool) -> [String] {
    if !command.usage.isEmpty { return command.usage }
    if isRoot { return ["pocket [<command>]"] }
    let words = command.positionals.map { positional in
      switch positional.count {
      case .optional: "[<\(positional.name)>]"
      case .one: "<\(positional.name)>"
      case .oneOrMore: "<\(positional.name)>…"
      case .any: "[<\(positional.name)>…]"
      }
    }
    return [(["pocket", command.name, "[<option>…]"] + words).joined(separator: " ")]
  }

  private static func row(_ option: OptionSpec) -> (String, String) {
    let short = option.short.map { "-\($0), " } ?? "    "
    return (short + "--" + option.long + (option.placeholder.map { " " + $0 } ?? ""), option.help)
  }

  /// Two columns; the right one is broken into lines and stays within the page's width.
  private static func columns(_ rows: [(String, String)]) -> String {
    let left = rows.filter { !$0.1.isEmpty }.map { displayWidth(of: $0.0) }.max() ?? 0
    return rows.map { name, text in
      guard !text.isEmpty else { return "  \(name)\n" }
      let lines = lines(of: text, width: width - left - 4)
      let indent = "\n" + String(repeating: " ", count: left + 4)
      return "  " + padded(name, to: left) + "  " + lines.joined(separator: indent) + "\n"
    }.joined()
  }

  private static func wrapped(_ text: String, indent: Int) -> String {
    lines(of: text, width: width - indent)
      .map { String(repeating: " ", count: indent) + $0 + "\n" }.joined()
  }

  /// The text's words in lines of at most `width` columns; its own line ends are kept. A no-break
  /// space (U+00A0) keeps a command together, and comes out as a space, since it may be copied.
  static func lines(of text: String, width: Int) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { paragraph in
      var lines = [""]
      for word in paragraph.split(separator: " ") {
        let last = lines[lines.count - 1]
        if last.isEmpty {
          lines[lines.count - 1] = String(word)
        } else if displayWidth(of: last) + 1 + displayWidth(of: word) <= width {
          lines[lines.count - 1] = last + " " + word
        } else {
          lines.append(String(word))
        }
      }
      return lines.map { line in String(line.map { $0 == "\u{A0}" ? " " : $0 }) }
    }
  }
}
