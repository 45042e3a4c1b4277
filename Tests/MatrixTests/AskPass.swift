import SSHClient
import TestSupport

/// Answers what a client asks, as a person would: to the `ssh` program through SSH_ASKPASS, to
/// Pocket through its `Questions`.
struct AskPass: Sendable {
  /// What makes ssh and ssh-add ask the program in place of a terminal.
  let environment: [String: String]
  let questions: Questions

  init(passphrase: String, password: String, in folder: TemporaryFolder) throws {
    let program = folder["askpass"]
    let script = """
      #!/bin/sh
      case $1 in
        *passphrase*) echo '\(passphrase)' ;;
        *) echo '\(password)' ;;
      esac

      """
    try writeFile(program, Array(script.utf8), mode: 0o700)
    environment = ["SSH_ASKPASS": program, "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": "none"]
    questions = Questions(
      confirmHostKey: { _ in false },
      secret: { question in
        Array((question.prompt.contains("passphrase") ? passphrase : password).utf8)
      })
  }
}
