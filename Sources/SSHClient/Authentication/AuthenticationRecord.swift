/// What was tried on the way in, for the error when nothing helped.
struct AuthenticationRecord: Sendable {
  /// What the server took, each as one step of the way in.
  var taken: [String] = []
  /// What was offered and refused.
  var refused: [String] = []
  /// What could not be used as it is, and what to do about it.
  var obstacles: [String] = []
  /// What libssh2 cannot do here, as noun phrases.
  var beyondLibSSH2: [String] = []
  /// The server would have taken one of those: the `ssh` program gets in without a question.
  var isBetterServedByOpenSSH = false
  /// What the server would still take; nil when it has not said yet.
  var canGoOn: [String]?

  /// Nothing that is left can let us in.
  func refusal(user: String, host: String) -> SSHError {
    let accepts = "it takes \((canGoOn ?? []).joined(separator: ", "))"
    var message = "The server let nobody in as \(user) (\(accepts))"
    if refused.isEmpty { message = "There is nothing to offer as \(user) (\(accepts))" }
    if !taken.isEmpty {
      message =
        "The server took \(taken.joined(separator: ", ")) and wants more of \(user) (\(accepts))"
    }
    return SSHError(
      .authentication, .authenticationRefused, host: host, message + refusedWords,
      advice: obstacles.isEmpty
        ? "See which key `ssh -v` uses for this host" : obstacles.joined(separator: ". "),
      beyondLibSSH2: beyondLibSSH2.first)
  }

  /// The same error with what was refused before it.
  func explaining(_ error: SSHError) -> SSHError {
    guard error.phase == .authentication, error.kind == .authenticationRefused, !refused.isEmpty,
      !error.message.hasSuffix(refusedWords)
    else { return error }
    var error = error
    error.message += refusedWords
    return error
  }

  private var refusedWords: String {
    refused.isEmpty ? "" : "; it refused " + refused.joined(separator: ", ")
  }
}
