import CCrypto
import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension SSHConnection {
  /// One attempt at keyboard-interactive, of as many rounds as the server likes; and whether it asked
  /// anything at all.
  func keyboardInteractive(
    user: String, ask: @escaping KeyboardConversation.Ask
  ) async throws(SSHError) -> (answer: AuthenticationAnswer, wasAsked: Bool) {
    guard let conversation = KeyboardConversation(ask) else {
      throw SSHError(
        .authentication, .badConfiguration, host: host, "The system has no pipe to give")
    }
    wire?.conversation = conversation
    defer { wire?.conversation = nil }
    let outcome = await withTaskCancellationHandler {
      () -> Result<AuthenticationAnswer, SSHError> in
      do throws(SSHError) {
        // The thread stands still while somebody types, and with it this deadline.
        return .success(
          try await attempt(KeyboardConversation.patience * 4) { session in
            libssh2_userauth_keyboard_interactive_ex(
              session, user, UInt32(user.utf8.count), answerRound)
          })
      } catch {
        return .failure(error)
      }
    } onCancel: {
      conversation.stop(.cancelled)
    }
    switch conversation.end {
    case nil: return (try outcome.get(), conversation.rounds > 0)
    case .cancelled: throw .cancelled(host: host)
    case .expired, .noAnswer: throw .noAnswer(host: host)
    }
  }
}

extension SSHError {
  /// The user was asked and gave no answer.
  static func noAnswer(host: String) -> SSHError {
    SSHError(
      .authentication, .authenticationRefused, host: host,
      "The server's question was not answered, so nobody was logged in")
  }
}

private func answerRound(
  _ name: UnsafePointer<CChar>?, _ nameLength: Int32,
  _ instruction: UnsafePointer<CChar>?, _ instructionLength: Int32,
  _ count: Int32, _ prompts: UnsafePointer<LIBSSH2_USERAUTH_KBDINT_PROMPT>?,
  _ responses: UnsafeMutablePointer<LIBSSH2_USERAUTH_KBDINT_RESPONSE>?,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) {
  guard let wire = wire(abstract), let conversation = wire.conversation else { return }
  let round = KeyboardRound(
    name: text(name, Int(nameLength)), instruction: text(instruction, Int(instructionLength)),
    prompts: (0..<Int(count)).map { readPrompt($0, of: prompts) })
  guard let answers = conversation.answers(to: round) else {
    // libssh2 would send empty answers, which the server counts as wrong ones.
    wire.isDead = true
    return
  }
  for (index, answer) in answers.enumerated() {
    answer.withBytes { bytes in
      // libssh2 frees it with the session's `free`, which overwrites it first.
      guard let copy = malloc(max(bytes.count, 1)) else { return }
      if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
      responses?[index].text = copy.assumingMemoryBound(to: CChar.self)
      responses?[index].length = UInt32(bytes.count)
    }
  }
}

/// By the layout of the library that runs, whatever headers this was built with.
private func readPrompt(
  _ index: Int, of prompts: UnsafePointer<LIBSSH2_USERAUTH_KBDINT_PROMPT>?
) -> KeyboardRound.Prompt {
  guard let prompts else { return .init(text: "", isVisible: false) }
  let layout = LibSSH2Abilities.here.promptLayout
  let entry = UnsafeRawPointer(prompts) + index * layout.stride
  let start = entry.load(as: UnsafePointer<CChar>?.self)
  // The low half of a `size_t` too, on every machine that this runs on.
  let length = entry.load(fromByteOffset: MemoryLayout<UnsafeRawPointer>.size, as: UInt32.self)
  let echo = entry.load(fromByteOffset: layout.echoOffset, as: UInt8.self)
  return .init(text: text(start, Int(length)), isVisible: echo != 0)
}

private func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
  String(
    decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length), as: UTF8.self)
}
