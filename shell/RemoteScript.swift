#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What can be asked of a host: one script in this folder each.
public enum RemoteVerb: String, Sendable, CaseIterable {
  case launch, follow, cancel, inspect, list, adopt, remove, doctor
}

/// A verb with its arguments, ready to be rendered into the one command that a host is given.
///
/// The command is safe in every login shell: to them it is three single-quoted words that hold
/// nothing but base64 and our own text. docs/design.md §5 explains its form.
public struct RemoteScript: Sendable {
  /// What is asked.
  public let verb: RemoteVerb
  /// Shell variables that the script reads, in order.
  public let arguments: [(name: String, value: String)]

  /// `verb` with `arguments`; the values are quoted, so any text without NUL is safe.
  public init(_ verb: RemoteVerb, _ arguments: [(name: String, value: String)] = []) {
    self.verb = verb
    self.arguments = arguments
  }

  /// The command for one channel.
  ///
  /// - Parameter nonce: 16 hexadecimal digits, fresh for every channel; every line of the reply
  ///   begins with it.
  public func command(nonce: String) -> String {
    let encoded = Data(text(nonce: nonce).utf8).base64EncodedString()
    return Self.decodeThenRun + " 'exec bash --norc -p -c \"$0\" pocket' '\(encoded)' '\(nonce)'"
  }

  /// What the watcher of a job with limits is made of, beside the parts that launch brings along. It
  /// follows the secrets, since the command of `launch` has no room for it.
  ///
  /// - Parameter interrupting: whether the leader gets INT before its group gets TERM, as in a cancel.
  public static func watchScript(interrupting: Bool) -> String {
    let source = ScriptSource.named("watch")
    return "interrupt=\(interrupting ? "yes" : "no")\n"
      + parts(of: source).map { stripped(ScriptSource.named($0)) }.joined() + stripped(source)
  }

  /// A fresh nonce from the system's random generator.
  public static func freshNonce() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// `sh` decodes before any profile runs; the login bash gives the environment, and can neither
  /// read the payload (descriptor 7) nor write into the reply (8); `bash -p` drops functions,
  /// aliases, BASH_ENV and shell options, `--norc` keeps ~/.bashrc out, which Debian's bash reads
  /// under sshd even for `-c` and `-p`.
  private static let decodeThenRun =
    #"sh -c 'command -v bash >/dev/null || { echo "$2 nobash"; exit 127; }; "#
    + #"exec bash -lc "$0" "$(printf %s "$1" | base64 -d)" 7<&0 8>&1 </dev/null 1>&2'"#

  /// The script's text: arguments, the parts it uses, and its own lines.
  func text(nonce: String) -> String {
    var given = [(name: "nonce", value: nonce)] + arguments
    let source = ScriptSource.named(verb.rawValue)
    var parts = Self.parts(of: source).map { Self.stripped(ScriptSource.named($0)) }.joined()
    if verb == .launch {
      // Supervisor and leader are made of the same parts, which are so large that they may be in
      // the command only once.
      given += [
        ("shared_script", parts),
        ("supervise_script", Self.stripped(ScriptSource.named("supervise"))),
        ("lead_script", Self.stripped(ScriptSource.named("lead"))),
      ]
      parts = "eval \"$shared_script\"\n"
    }
    let assignments = given.map { "\($0.name)=\(Self.quoted($0.value))\n" }.joined()
    return assignments + parts + Self.stripped(source)
  }

  /// The parts that come before a script, as its `# uses:` line names them.
  static func parts(of source: String) -> [String] {
    let uses = source.split(separator: "\n").first { $0.hasPrefix("# uses: ") }
    return uses?.dropFirst("# uses: ".count).split(separator: " ").map(String.init) ?? []
  }

  /// `source` without comment lines, blank lines and indentation; nothing else is changed, so no
  /// script may rest on a line within quotes that begins with a blank or a `#`.
  static func stripped(_ source: String) -> String {
    source.split(separator: "\n").compactMap { line -> String? in
      let text = line.drop { $0 == " " || $0 == "\t" }
      return text.isEmpty || text.hasPrefix("#") ? nil : text + "\n"
    }.joined()
  }

  private static func quoted(_ value: String) -> String {
    "'" + value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
      + "'"
  }
}
