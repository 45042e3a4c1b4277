extension Command {
  /// What runs when no command is named.
  static let overview = Command(
    "pocket", summary: "x",
    options: []
  ) { invocation, context in
    return .success
  }
}
