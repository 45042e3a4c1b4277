import JobModel
import JobStore

/// Jobs in lines with columns: id, state and its age, size, host, and what it is. The last column is
/// cut to the terminal's width.
struct JobTable {
  private struct Row {
    let cells: [String]
    let state: JobState
    let isProved: Bool
    let note: String?
  }

  private let style: Style
  /// In columns; nil where there is no terminal to be wide or narrow.
  private let width: Int?
  private var rows: [Row] = []

  init(style: Style, width: Int?) {
    self.style = style
    self.width = width
  }

  /// - Parameter note: a line that follows the job's own.
  mutating func add(_ record: JobRecord, now: Int64, note: String? = nil) {
    let job = record.job
    let what = (job.name.map { $0 + ": " } ?? "") + job.title
    let cells = [
      job.id.description, StateWords(job).short, age(now - job.stateAt) + " ago",
      size(record.storedBytes), printable(job.host), printable(what),
    ]
    rows.append(Row(cells: cells, state: job.state, isProved: job.proved, note: note))
  }

  /// The lines, without their ends.
  func lines(withHeader: Bool) -> [String] {
    let header = ["ID", "STATE", "SEEN", "SIZE", "HOST", "WHAT"]
    let table = TextTable((withHeader ? [header] : []) + rows.map(\.cells), width: width)
    var lines = withHeader ? [style.dim(table.line(header))] : []
    for row in rows {
      lines.append(table.line(row.cells) { $0 == 1 ? coloured($1, row) : $1 })
      if let note = row.note { lines.append("              " + style.dim(note)) }
    }
    return lines
  }

  private func coloured(_ text: String, _ row: Row) -> String {
    switch row.state {
    case .running: style.green(text)
    case .finished(.code(0)) where row.isProved: text
    case .finished, .lost, .neverStarted, .elsewhere: style.red(text)
    case .launching, .unreachable: style.yellow(text)
    case .cancelled: text
    }
  }
}
