extension Command {
  static let completions = Command(
    "completions", summary: "Print what makes a shell complete pocket's words.",
    examples: [
      Example(#"eval "$(pocket completions bash)""#, "in ~/.bashrc"),
      Example(#"eval "$(pocket completions zsh)""#, "in ~/.zshrc, after compinit"),
      Example("pocket completions fish | source", "in ~/.config/fish/config.fish"),
    ],
    positionals: [
      Positional("shell", .one, .suggestion(CompletionStub.allCases.map(\.rawValue)))
    ]
  ) { invocation, context in
    let name = invocation.positionals[0].shown
    guard let stub = CompletionStub(rawValue: name) else {
      let shells = CompletionStub.allCases.map(\.rawValue)
      throw UsageError(
        "there are no completions for '\(printable(name))'",
        hint: "there are for \(shells.joined(separator: ", "))", command: "completions")
    }
    try await context.console.write(Array(stub.text.utf8))
    return .success
  }

  static let complete = Command(
    "__complete", summary: "Answer a shell's completion stub.",
    positionals: [Positional("word", .oneOrMore)], isHidden: true
  ) { invocation, context in
    let answer = CompletionAnswer(
      table: context.table, jobs: { await context.jobCandidates() },
      hosts: { await context.hostCandidates() })
    for candidate in await answer.candidates(for: invocation.positionals.map(\.shown)) {
      try await context.console.print("\(printable(candidate.word))\t\(printable(candidate.note))")
    }
    return .success
  }
}
