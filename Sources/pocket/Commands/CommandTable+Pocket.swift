extension CommandTable {
  /// All commands, in the order in which help lists them: the everyday ones first.
  static let pocket = CommandTable(
    root: .overview,
    commands: [
      .run, .resume, .cancel, .list, .show, .logs, .wait, .verify, .remove, .prune, .adopt, .hosts,
      .doctor, .backup, .completions, .complete,
    ],
    topics: [.jobs, .settings, .exitCodes])
}
