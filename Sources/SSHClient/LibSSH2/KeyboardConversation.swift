import CPosix
import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a server asks in one round of keyboard-interactive (RFC 4256 §3.2).
struct KeyboardRound: Sendable, Equatable {
  struct Prompt: Sendable, Equatable {
    var text: String
    var isVisible: Bool
  }

  var name: String
  var instruction: String
  var prompts: [Prompt]
}

/// The answers to a server's questions. libssh2 wants them from its callback at once and takes no
/// EAGAIN there, so the callback waits: the connection's own thread stands still until somebody has
/// typed. That harms nobody: before the login is over the connection has no channel, no keepalive
/// and no other caller, and whoever wants it to end (a deadline, a cancelled task) ends the wait
/// from another thread.
///
/// Sendable: the fields that change are touched under the lock only.
final class KeyboardConversation: @unchecked Sendable {
  /// How one round is answered: nil when the user gives no answer.
  typealias Ask = @Sendable (KeyboardRound) async -> [Secret]?

  /// sshd's LoginGraceTime: a server waits no longer than that.
  static let patience = Duration.seconds(120)

  enum End: Sendable { case expired, cancelled, noAnswer }

  private enum State {
    case waiting
    case answered([Secret])
    case ended(End)
  }

  private let ask: Ask
  private let lock = Lock()
  private var state = State.waiting
  private var roundCount = 0
  /// A byte comes through it when `state` has changed.
  private let wokenEnd: Int32
  private let wakeEnd: Int32

  /// nil when the system has no pipe to give.
  init?(_ ask: @escaping Ask) {
    var ends: [Int32] = [-1, -1]
    guard pocket_pipe(&ends) == 0 else { return nil }
    (wokenEnd, wakeEnd) = (ends[0], ends[1])
    _ = fcntl(wakeEnd, F_SETFL, O_NONBLOCK)
    self.ask = ask
  }

  deinit {
    close(wokenEnd)
    close(wakeEnd)
  }

  /// Why it gave no answer, if it did not.
  var end: End? { lock.withLock { if case .ended(let end) = state { end } else { nil } } }

  /// How many rounds had prompts.
  var rounds: Int { lock.withLock { roundCount } }

  /// From any thread; the wait is over.
  func stop(_ end: End) { settle(.ended(end)) }

  private func settle(_ new: State) {
    lock.withLock {
      if case .ended = state { return }
      state = new
      var byte: UInt8 = 0
      // A full pipe wakes just as well.
      _ = write(wakeEnd, &byte, 1)
    }
  }

  /// Blocks: for the connection's thread, from libssh2's callback.
  func answers(to round: KeyboardRound) -> [Secret]? {
    // A server may end with a round that only tells something.
    if round.prompts.isEmpty { return [] }
    let isOver = lock.withLock {
      roundCount += 1
      if case .ended = state { return true }
      state = .waiting
      return false
    }
    if isOver { return nil }
    let ask = ask
    let asking = Task.detached {
      if let answers = await ask(round) {
        self.settle(.answered(answers))
      } else {
        self.settle(.ended(.noAnswer))
      }
    }
    let deadline = ContinuousClock.now + Self.patience
    while true {
      var entry = pollfd(fd: wokenEnd, events: Int16(POLLIN), revents: 0)
      let left = deadline - .now
      if left <= .zero { settle(.ended(.expired)) }
      poll(&entry, 1, max(left, .zero).pollMilliseconds)
      if entry.revents != 0 {
        var byte: UInt8 = 0
        _ = read(wokenEnd, &byte, 1)
      }
      switch lock.withLock({ state }) {
      case .waiting: continue
      case .answered(let answers) where answers.count == round.prompts.count: return answers
      case .answered, .ended:
        asking.cancel()
        return nil
      }
    }
  }
}
