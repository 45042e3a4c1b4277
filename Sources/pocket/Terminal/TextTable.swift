/// Lines with columns, each as wide as its widest cell; the last is cut to the terminal's width.
struct TextTable {
  private let widths: [Int]
  /// In columns; nil where there is no terminal to be wide or narrow.
  private let width: Int?

  /// - Parameter rows: all that will be shown, the header too; every row has as many cells as the
  ///   first.
  init(_ rows: [[String]], width: Int?) {
    widths = (rows.first?.indices ?? 0..<0).map { column in
      rows.map { displayWidth(of: $0[column]) }.max() ?? 0
    }
    self.width = width
  }

  /// One row as a line, without its end.
  ///
  /// - Parameter decorate: gives a column's field, which has its full width already, a colour.
  func line(
    _ cells: [String], decorate: (_ column: Int, _ field: String) -> String = { $1 }
  ) -> String {
    var text = ""
    var used = 0
    for (column, cell) in cells.enumerated() {
      if column == cells.count - 1 {
        return text + (width.map { fitted(cell, to: max(10, $0 - used)) } ?? cell)
      }
      text += decorate(column, padded(cell, to: widths[column])) + "  "
      used += widths[column] + 2
    }
    return text
  }
}

extension TerminalFacts {
  /// The width that a table on stdout has to keep to, if any.
  var tableWidth: Int? { outputIsTerminal ? columns : nil }
}
