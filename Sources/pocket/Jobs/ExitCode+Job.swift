import JobModel
import JobStore
import PocketKit
import SSHClient

extension ExitCode {
  /// What `run`, `resume` and `wait` end with when the job is in this state (design §7).
  init(_ state: JobState) {
    switch state.known {
    case .finished(.code(let code)): self.init(Int32(code))
    case .finished(.signal(let signal)): self = .signal(signal)
    case .finished(.unknown(let number)): self.init(Int32(number))
    case .cancelled: self = .cancelled
    case .neverStarted(.refused(.program?, _)): self = .notFound
    case .neverStarted(.refused): self = .cannotRun
    case .launching, .running, .lost, .elsewhere, .unreachable, .neverStarted: self = .pocketFailed
    }
  }
}

extension ExitCode {
  /// The same of a job that may have been ended by one of its limits.
  init(_ state: JobState, of job: Job) {
    guard case .finished = state.known, let limit = job.exit?.limit else {
      self.init(state)
      return
    }
    self = limit == .timeout ? .timedOut : .tooMuchOutput
  }
}

extension CommandError {
  init(_ error: JobError) {
    let message = "\(error)"
    switch error {
    case .host(let error): self.init(error)
    case .store(let error): self.init(error)
    case .request: self.init("request", message, exit: .usage)
    case .protocolBroken: self.init("protocol", message, exit: .pocketFailed)
    case .noBash: self.init("no-bash", message, exit: .pocketFailed)
    case .hostFailed(_, let kind, _):
      self.init("host-\(kind.rawValue)", message, exit: .pocketFailed)
    case .secretsMissing: self.init("secrets-missing", message, exit: .usage)
    case .notOver: self.init("not-over", message, exit: .failure)
    case .notAdoptable: self.init("not-adoptable", message, exit: .failure)
    case .cancelQueued(.host(let error)) where error.isWorthRetrying:
      self.init("queued", message, exit: .queued)
    case .cancelQueued(let cause):
      let cause = CommandError(cause)
      self.init(cause.code, message, exit: cause.exit)
    case .cancelled: self.init("interrupted", message, exit: .detached)
    }
  }

  init(_ error: SSHError) {
    let (code, exit): (String, ExitCode) =
      switch error.kind {
      case .badConfiguration: ("ssh-configuration", .unreachable)
      case .unreachable, .busy, .timedOut, .refused, .tooManyChannels: ("unreachable", .unreachable)
      case .hostKeyUnknown: ("host-key-unknown", .unreachable)
      case .hostKeyChanged: ("host-key-changed", .hostKey)
      case .authenticationRefused: ("authentication", .unreachable)
      case .cancelled: ("interrupted", .detached)
      }
    self.init(code, "\(error)", exit: exit)
  }

  init(_ error: StoreError) {
    let message = "\(error)"
    switch error {
    case .noSuchJob: self.init("no-such-job", message, exit: .usage)
    case .ambiguous(let reference, let candidates):
      let lines = candidates.map { "  \($0.label)  on \($0.host): \(printable($0.title))" }
      self.init(
        "ambiguous", "\"\(reference)\" may mean any of these; write more of the id",
        details: lines, exit: .usage)
    case .nameTaken: self.init("name-taken", message, exit: .usage)
    case .invalidRequest: self.init("request", message, exit: .usage)
    case .backupExists: self.init("exists", message, exit: .failure)
    default: self.init("store", message, exit: .pocketFailed)
    }
  }
}
