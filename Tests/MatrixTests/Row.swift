/// A case on one server program.
struct Row: Sendable {
  var section: String
  var program: ServerProgram
  var test: Case

  /// What names it in the file of results.
  var name: String { "\(section)\t\(test.name)" }
}

extension Row {
  /// What the rule of the matrix says against these cells; nothing when it holds.
  ///
  /// The rule: where `ssh` passes, `auto` passes; and who does not pass says so in time, with the
  /// right class of error: the row's own, or one that names what libssh2 cannot do.
  func objections(_ cells: [(column: Column, cell: Cell?)]) -> [String] {
    let sshPasses = cells.contains { $0.column.client == .ssh && $0.cell?.didPass == true }
    return cells.compactMap { column, cell in
      switch cell {
      case nil: "\(column.title): no result"
      case .passed, .passedBySSH, .notTried, .failedInSSH: nil
      case .wrong(let what): "\(column.title): \(what)"
      case .failed(let kind, let beyond):
        if column.client == .auto && sshPasses {
          "\(column.title): \(kind), and ssh passes"
        } else if kind == test.failure || (kind == test.failureBySSH && column.client == .openssh)
          || (beyond != nil && column.client == .libssh2)
        {
          nil
        } else {
          "\(column.title): \(kind) in place of \(test.failure)"
        }
      }
    }
  }
}

/// A client, and the title of its cells: what depends on libssh2 has one for each version.
struct Column: Sendable, Equatable {
  var client: Client
  var title: String

  init(_ client: Client, library: String) {
    self.client = client
    title =
      switch client {
      case .ssh, .openssh: client.rawValue
      case .libssh2, .auto: "\(client.rawValue) \(library)"
      }
  }
}
