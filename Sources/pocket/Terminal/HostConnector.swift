import Dispatch
import SSHClient

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The way to a host over ssh, with the user at the terminal for a question.
enum HostConnector {
  @Sendable static func make(
    host: String, sshConfig: String?, console: Console
  ) throws(SSHError) -> any Connector {
    let facts = console.facts
    var options = ConnectionOptions(configurationFile: sshConfig)
    if facts.inputIsTerminal, facts.errorsIsTerminal {
      options.questions = Questions(
        confirmHostKey: { await confirm($0, console) }, secret: { _ in nil })
    }
    return try SSHConnector(host: host, options: options)
  }

  /// Shows an unknown host key's fingerprint and asks about it. Only a whole `yes` will do.
  private static func confirm(_ question: HostKeyQuestion, _ console: Console) async -> Bool {
    do {
      try await console.show(status: nil)
      try await console.say(
        "\(question.host) is new here. Its \(question.keyType) key is \(question.fingerprint)")
      if !question.otherKnownTypes.isEmpty {
        let types = question.otherKnownTypes.joined(separator: ", ")
        try await console.say("careful: other keys of this host are known (\(types)), not this one")
      }
      try await console.say("compare it with the host's own, then type yes to go on, or no:")
    } catch {
      return false
    }
    return await readLine() == "yes"
  }

  /// A line from the terminal itself: stdin may be a prompt.
  private static func readLine() async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "pocket.question").async {
        continuation.resume(returning: lineOfTerminal())
      }
    }
  }

  private static func lineOfTerminal() -> String {
    let descriptor = open("/dev/tty", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while line.count < 1000 {
      let count = read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      if count != 1 || byte == 0x0A { break }
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }
}
