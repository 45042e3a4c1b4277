import CPosix
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The user's own editor, for a prompt that is longer than a line.
enum Editor {
  /// Opens `$VISUAL`, else `$EDITOR`, on an empty file, and gives what was written into it.
  ///
  /// - Throws: `CommandError` when none is set, or when the editor says that it failed.
  @Sendable static func write(_ environment: Environment) async throws(CommandError) -> [UInt8] {
    guard
      let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap({ $0 })
        .first(where: { !$0.isEmpty })
    else {
      throw CommandError(
        "no-prompt",
        "there is no prompt: give one, or - to read it from standard input, or set VISUAL or EDITOR",
        exit: .usage)
    }
    let folder = environment["XDG_RUNTIME_DIR"] ?? environment["TMPDIR"] ?? "/tmp"
    let result = await withCheckedContinuation { continuation in
      DispatchQueue(label: "pocket.editor").async {
        continuation.resume(
          returning: Result { () throws(CommandError) in try edit(with: editor, in: folder) })
      }
    }
    return try result.get()
  }

  private static func edit(with editor: String, in folder: String) throws(CommandError) -> [UInt8] {
    // 0600 and a name of its own (mkstemp(3)): a prompt is nobody else's business.
    var template = Array("\(folder)/pocket-prompt-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw failure("cannot make a file in \(folder)", errno) }
    close(descriptor)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    try run(editor, on: path)
    return try FileBytes.of(path)
  }

  /// `$EDITOR` may hold options, so a shell splits it, as git(1) does. The file is an argument.
  private static func run(_ editor: String, on path: String) throws(CommandError) {
    let words = ["/bin/sh", "-c", "exec \(editor) \"$0\"", path]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    // In our process group, unlike other programs that Pocket starts: it needs the terminal.
    let number = posix_spawn(&child, "/bin/sh", nil, nil, &arguments, pocket_environment())
    guard number == 0 else { throw failure("cannot start \(editor)", number) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw failure("cannot wait for \(editor)", errno) }
    }
    guard pocket_exit_code(status) == 0 else {
      throw CommandError(
        "editor", "\(editor) did not end well, so nothing was started", exit: .usage)
    }
  }

  private static func failure(_ what: String, _ number: Int32) -> CommandError {
    CommandError("editor", "\(what): \(String(cString: strerror(number)))", exit: .pocketFailed)
  }
}
