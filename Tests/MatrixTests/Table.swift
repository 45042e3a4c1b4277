/// The page that `make ssh-matrix` writes.
struct Table {
  var rows: [Row]
  var columns: [Column]
  var results: Results

  private static let head = """
    # Where ssh connects, and where Pocket connects

    Written by `make ssh-matrix`; do not edit. A row is one real login and one command, checked by
    its output and exit code, on a server of its own. The column `ssh` is the program itself, with
    the same configuration and SSH_ASKPASS for what it asks. The others are Pocket with that engine;
    `yes, by ssh` is what libssh2 cannot do and `auto` gives to the program. A `no` names the error's
    phase and kind, and in parentheses what the error says libssh2 cannot do.

    The rule: where `ssh` passes, `auto` passes; what does not pass ends within its deadline in the
    class of error that fits. A row that breaks it bears a ✗.

    """

  func text() async -> String {
    var lines = [Self.head]
    for (what, version) in await results.versions.sorted(by: { $0.key < $1.key }) {
      lines.append("- \(what): \(version)")
    }
    var section = ""
    for row in rows {
      if row.section != section {
        section = row.section
        lines += ["", "## \(section)", "", line(["case"] + columns.map(\.title))]
        lines.append(line([String](repeating: "---", count: columns.count + 1)))
      }
      let cells = await results.cells(row, columns)
      let mark = row.objections(cells).isEmpty ? "" : " ✗"
      lines.append(line([row.test.name + mark] + cells.map { $0.cell?.description ?? "" }))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ cells: [String]) -> String {
    // A bar in an error's words would begin a column.
    let plain = cells.map { String($0.map { $0 == "|" ? "/" : $0 }) }
    return "| " + plain.joined(separator: " | ") + " |"
  }
}
