#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How a master's questions reach us: it has no terminal, so it runs SSH_ASKPASS (ssh(1)), which is
/// a script of ours in the connection's folder. The script hands the question over in one named
/// pipe and waits in another for the answer, which no command line ever holds. (Needs OpenSSH 8.4,
/// which knows SSH_ASKPASS_REQUIRE; an older ssh fails as if nobody were there.)
///
/// Not Sendable: it lives on the connection's thread.
final class QuestionPipes {
  /// A question as ssh words it.
  struct Question: Sendable {
    /// `none` for a notice that needs no answer, as to touch a security key; else empty or
    /// `confirm`.
    let kind: String
    let prompt: String
  }

  /// For poll(2).
  let questions: Int32
  private let answers: Int32
  private let folder: ControlFolder
  private var received: [UInt8] = []

  /// It is shown until the key is touched; then ssh ends it.
  private static let script = """
    #!/bin/sh
    folder=${0%/*}
    printf '%s\\000%s\\000' "$SSH_ASKPASS_PROMPT" "$1" >"$folder/question"
    if [ "$SSH_ASKPASS_PROMPT" = none ]; then exec sleep 600; fi
    IFS= read -r answer <"$folder/answer" || exit 1
    case $answer in
    +*) printf '%s\\n' "${answer#+}" ;;
    *) exit 1 ;;
    esac

    """

  init(_ folder: ControlFolder) throws(SystemError) {
    self.folder = folder
    // First, since an initializer that throws when all is set runs `deinit` as well.
    try folder.makeFile("ask", Self.script, mode: 0o700)
    questions = try folder.makePipe("question")
    do throws(SystemError) {
      answers = try folder.makePipe("answer")
    } catch {
      closeDescriptor(questions)
      throw error
    }
  }

  deinit {
    for pipe in [questions, answers] { closeDescriptor(pipe) }
  }

  /// What a master's environment says about asking, or about nobody being there.
  static func variables(asking folder: ControlFolder?) -> [String] {
    guard let folder else { return ["SSH_ASKPASS_REQUIRE=never"] }
    return ["SSH_ASKPASS=\(folder.path)/ask", "SSH_ASKPASS_REQUIRE=force"]
  }

  /// The next question that has arrived whole.
  func next() -> Question? {
    while case .done(let bytes) = SSHChild.read(questions) { received += bytes }
    let parts = received.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    received = Array(parts[2])
    return Question(
      kind: String(decoding: parts[0], as: UTF8.self),
      prompt: String(decoding: parts[1], as: UTF8.self))
  }

  /// Answers the script that waits; nil when the user gives no answer.
  func answer(_ bytes: [UInt8]?) {
    // An answer that a killed script has left behind is not for this one.
    while case .done = SSHChild.read(answers) {}
    // A line's end cannot be part of an answer, here as on a terminal.
    var line: [UInt8] = []
    // Of this size from the first, so that no shorter copy of a secret is left behind.
    line.reserveCapacity((bytes?.count ?? 0) + 2)
    defer { line.wipe() }
    line.append(UInt8(ascii: bytes == nil ? "-" : "+"))
    if let bytes { line += bytes.prefix { $0 != 0x0A } }
    line.append(0x0A)
    _ = write(answers, line, line.count)
  }
}
