import SSHClient
import TestSupport

/// A user who has their answers ready, and keeps what they were asked.
final class Answers: Sendable {
  private let state: Locked<(left: [String?], asked: [SecretQuestion])>

  /// - Parameter answers: in this order; nil, and whatever comes after the last, is no answer.
  init(_ answers: String?...) { state = Locked((answers, [])) }

  var asked: [SecretQuestion] { state.withLock { $0.asked } }

  var questions: Questions {
    Questions(confirmHostKey: { _ in false }) { question in
      self.state.withLock { state in
        state.asked.append(question)
        let answer = state.left.isEmpty ? nil : state.left.removeFirst()
        return answer.map { [UInt8]($0.utf8) }
      }
    }
  }
}

/// Connects once, with somebody to ask; nil is success.
func connectionRefusal(
  _ alias: String, _ configuration: String, _ answers: Answers?, engine: EngineChoice = .libssh2
) async throws -> SSHError? {
  precondition(isMarkedAsTest)
  let connector = try SSHConnector(
    host: alias,
    options: ConnectionOptions(
      engine: engine, configurationFile: configuration, questions: answers?.questions))
  do {
    let transport = try await connector.connect()
    await transport.close()
    return nil
  } catch {
    return error
  }
}

extension LoopbackServer {
  /// Connects once, with somebody to ask; nil is success.
  func refusal(
    _ alias: String, _ answers: Answers? = nil, engine: EngineChoice = .libssh2
  ) async throws -> SSHError? {
    try await connectionRefusal(alias, sshConfiguration, answers, engine: engine)
  }
}
