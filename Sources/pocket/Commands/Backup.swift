import JobStore

extension Command {
  static let backup = Command(
    "backup", summary: "Copy the whole store into a new file.",
    examples: [
      Example("pocket backup ~/pocket-monday.db", "at any time, also while jobs are followed")
    ],
    positionals: [Positional("file", .one, .file)],
    options: [Keys.json.spec],
    notes: [
      """
      A copy of the database file alone would lack what is still in its write-ahead log. To use a \
      backup, put it into a folder of its own as pocket.db and set POCKET_HOME to that folder.
      """
    ]
  ) { invocation, context in
    let path = invocation.positionals[0]
    guard let text = path.text, !text.isEmpty else {
      throw UsageError("the file's name must be text that is not empty", command: "backup")
    }
    let whole = text.hasPrefix("/") ? text : "\(context.workingDirectory)/\(text)"
    try await context.openStore().backup(to: whole)
    if invocation[Keys.json] {
      try await context.console.write(JSONLine.bytes(of: ["backup": whole]))
    } else {
      try await context.console.say("the store is copied to \(whole)")
    }
    return .success
  }
}
