/// Where answers come from, as ssh(1) has it: SSH_ASKPASS, SSH_ASKPASS_REQUIRE.
enum AnswerSource: Sendable, Equatable {
  case terminal
  case program(AskPassProgram)

  /// nil when there is nobody to ask.
  init?(_ environment: Environment, hasTerminal: Bool) {
    func isSet(_ name: String) -> Bool { environment[name].map { !$0.isEmpty } ?? false }
    let hasDisplay = isSet("DISPLAY") || isSet("WAYLAND_DISPLAY")
    let program = AskPassProgram(program: environment["SSH_ASKPASS"] ?? "ssh-askpass")
    switch environment["SSH_ASKPASS_REQUIRE"]?.lowercased() {
    case "force": self = .program(program)
    case "prefer" where hasDisplay: self = .program(program)
    case "never" where !hasTerminal: return nil
    default:
      if hasTerminal {
        self = .terminal
      } else if hasDisplay {
        self = .program(program)
      } else {
        return nil
      }
    }
  }

  func ask(_ prompt: String, isVisible: Bool) async -> [UInt8]? {
    switch self {
    case .terminal: await TerminalLine.ask(prompt, isVisible: isVisible)
    case .program(let program): await program.ask(prompt)
    }
  }
}
