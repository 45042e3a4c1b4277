import TestSupport

/// The cells of all rows, in a file: the second libssh2 is another process's, and fills in what the
/// first has left.
actor Results {
  private let path: String?
  private var cells: [String: Cell] = [:]
  /// What was used, and its version or why it was not.
  private(set) var versions: [String: String] = [:]

  /// - Parameter path: nil keeps them in memory alone.
  init(path: String?) throws {
    self.path = path
    guard let path, fileExists(path) else { return }
    for line in try readText(path).split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      if fields.count == 4, let cell = Cell(fields[3]) {
        cells[fields[..<3].joined(separator: "\t")] = cell
      } else if fields.count == 2 {
        versions[fields[0]] = fields[1]
      } else {
        throw Unreadable(path: path, line: String(line))
      }
    }
  }

  subscript(_ row: Row, _ column: Column) -> Cell? { cells["\(row.name)\t\(column.title)"] }

  /// All cells of a row, whether they are there or not.
  func cells(_ row: Row, _ columns: [Column]) -> [(column: Column, cell: Cell?)] {
    columns.map { ($0, self[row, $0]) }
  }

  /// The columns that have a cell at all.
  func columns(libraries: [String]) -> [Column] {
    var columns: [Column] = []
    for client in Client.allCases {
      for column in libraries.map({ Column(client, library: $0) }) where !columns.contains(column) {
        if cells.keys.contains(where: { $0.hasSuffix("\t\(column.title)") }) {
          columns.append(column)
        }
      }
    }
    return columns
  }

  func set(_ row: Row, _ column: Column, _ cell: Cell) throws {
    cells["\(row.name)\t\(column.title)"] = cell
    try append("\(row.name)\t\(column.title)\t\(cell)")
  }

  func setVersion(of what: String, _ version: String) throws {
    guard versions[what] != version else { return }
    versions[what] = version
    try append("\(what)\t\(version)")
  }

  private func append(_ line: String) throws {
    // A cell holds what an error said.
    let plain = line.map { $0 == "\n" ? " " : $0 } + ["\n"]
    if let path { try appendToFile(path, Array(String(plain).utf8)) }
  }

  struct Unreadable: Error {
    var path: String
    var line: String
  }
}
