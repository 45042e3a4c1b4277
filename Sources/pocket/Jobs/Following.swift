import JobModel
import JobStore
import PocketKit

/// Follows one job to its end: prints its output as it comes into the store, shows on a live line
/// how the connection does, and lets go at the first Ctrl-C.
struct Following {
  private let context: CommandContext
  private let client: JobClient
  private let job: Job
  private var printer: OutputPrinter?
  private var isConnected = false
  private var storeIsBusy = false
  private var away: (words: String, until: ContinuousClock.Instant)?

  /// What wakes the follower up.
  private enum Signal: Sendable {
    case event(JobEvent)
    case failed(any Error)
    case interrupted
    case tick
  }

  /// How it came to an end.
  enum End: Sendable {
    case over(JobState)
    /// By Ctrl-C; the job lives.
    case detached
  }

  /// - Parameter printer: nil takes the output in without printing it.
  init(_ job: Job, with client: JobClient, in context: CommandContext, printer: OutputPrinter?) {
    self.job = job
    self.client = client
    self.context = context
    self.printer = printer
  }

  /// Follows until the job is over.
  ///
  /// - Parameter events: what is to be taken in: `client.follow`, or a launch before it.
  mutating func run(_ events: JobEvents) async throws -> End {
    do {
      return try await takeAll(events)
    } catch {
      throw told(error)
    }
  }

  private mutating func takeAll(_ events: JobEvents) async throws -> End {
    let (signals, continuation) = AsyncStream.makeStream(of: Signal.self)
    let interrupts = context.interrupts()
    let tasks = [
      Task {
        do {
          for try await event in events { continuation.yield(.event(event)) }
        } catch {
          continuation.yield(.failed(error))
        }
        continuation.finish()
      },
      Task { for await _ in interrupts { continuation.yield(.interrupted) } },
      Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(500))
          continuation.yield(.tick)
        }
      },
    ]
    defer { for task in tasks { task.cancel() } }
    if !job.proved { try await context.console.show(status: "connecting to \(job.host)…") }
    try await printer?.printStored()
    for await signal in signals {
      switch signal {
      case .event(.ended(let state)):
        try await context.console.show(status: nil)
        try await printer?.printStored()
        try await printer?.finish()
        return .over(state)
      case .event(let event): try await take(event)
      case .tick:
        if printer?.hasUnsavedMarks == true { try await printer?.saveMarks() }
        try await showReconnecting()
      case .interrupted:
        try await context.console.show(status: nil)
        try await printer?.saveMarks()
        return .detached
      case .failed(let error):
        try await context.console.show(status: nil)
        do {
          try await printer?.saveMarks()
        } catch {
          // What has ended the follow is the error that counts.
        }
        throw error
      }
    }
    throw CommandError("internal", "the follow ended without an end", exit: .pocketFailed)
  }

  private mutating func take(_ event: JobEvent) async throws {
    let console = context.console
    switch event {
    case .connected:
      isConnected = true
      if away != nil, !console.facts.errorsIsTerminal {
        try await console.say("\(job.host) is back")
      }
      away = nil
      try await console.show(status: nil)
    case .disconnected(let error, let wait):
      away = ("\(error)", .now + wait)
      if console.facts.errorsIsTerminal, console.facts.isLively {
        try await showReconnecting()
      } else {
        try await console.show(status: "\(error); trying again", isNews: true)
      }
    case .storeBusy:
      storeIsBusy = true
      try await console.show(status: CommandContext.storeIsBusy, isNews: true)
    case .committed:
      if storeIsBusy, !console.facts.errorsIsTerminal {
        try await console.say("the store can be written to again")
      }
      storeIsBusy = false
      try await console.show(status: nil)
      try await printer?.printStored()
    case .gap(let stream, let reason, let offset):
      try await printer?.printStored()
      try await console.say(
        "\(stream.rawValue) was \(Self.words(reason)) on \(job.host) at byte \(offset);"
          + " what was read before is kept")
    case .notExecuted(_, let words):
      try await console.say("\(job.host): the command could not be executed: \(words)")
    case .late(let out, let err):
      try await console.say(
        "\(size(out + err)) came after the end and are not part of the output;"
          + " to take them in: pocket resume --late \(job.name ?? job.id.description)")
    case .state, .ended: break
    }
  }

  /// An error of the store's says nothing about the job.
  private func told(_ error: any Error) -> any Error {
    var failure = error as? StoreError
    if case .store(let inner)? = error as? JobError { failure = inner }
    guard let failure else { return error }
    let error = CommandError(failure)
    let lines = [
      "the job itself is not affected; to go on where its output was stored last:",
      "  pocket resume \(job.name ?? job.id.description)",
    ]
    return CommandError(
      error.code, error.message, details: error.details + lines, exit: error.exit)
  }

  private func showReconnecting() async throws {
    guard let away else { return }
    let left = max(0, (away.until - .now).components.seconds)
    let verb = isConnected ? "reconnecting" : "connecting"
    let wait = left > 0 ? ", \(left) s…" : "…"
    try await context.console.show(status: "\(verb)\(wait) (\(away.words))")
  }

  private static func words(_ reason: GapReason) -> String {
    switch reason {
    case .shrunk: "cut short"
    case .replaced: "replaced"
    case .rewritten: "rewritten"
    case .missing: "removed"
    }
  }
}

extension CommandContext {
  /// Tells how following ended, and gives the exit code for it.
  func conclude(
    _ end: Following.End, _ job: Job, with client: JobClient, asJSON: Bool
  ) async throws -> ExitCode {
    switch end {
    case .detached:
      if asJSON {
        try await report(job, with: client)
      } else {
        let newest = try await client.store.job(job.id) ?? job
        let isUnconfirmed = newest.state.known == .launching
        try await console.say(
          isUnconfirmed
            ? "let go; whether \(job.label) has started is not known yet. To find out and follow it:"
            : "let go; \(job.label) goes on. To follow it again:")
        try await console.say("  pocket resume \(job.name ?? job.id.description)")
      }
      return .detached
    case .over(let state):
      if asJSON {
        try await report(job, with: client)
      } else {
        try await sayEnd(of: job, state, with: client)
      }
      return ExitCode(state, of: try await client.store.job(job.id) ?? job)
    }
  }

  /// The job as one JSON object on stderr: what an exit code cannot tell.
  private func report(_ job: Job, with client: JobClient) async throws {
    let newest = try await client.store.job(job.id) ?? job
    let record = try await JobRecord(newest, in: client.store)
    try await console.writeErrors(JSONLine.bytes(of: record))
  }

  private func sayEnd(of job: Job, _ state: JobState, with client: JobClient) async throws {
    let newest = try await client.store.job(job.id) ?? job
    let limits = LimitWords(newest)
    if case .finished(.code) = state, limits.end == nil, limits.cut == nil {
      // A script has the exit code; a person would have to ask for it.
      let isAllThereIs = newest.exit.map { !$0.diskWasFull } ?? true
      guard console.facts.errorsIsTerminal || !isAllThereIs else { return }
    }
    let lasted = newest.exit.map { ", after \(age($0.endedAt - $0.startedAt))" }
    let seconds = limits.end == nil ? lasted ?? "" : ""
    try await console.say("\(job.label): \(StateWords(newest).sentence)\(seconds)")
    if let cut = limits.cut { try await console.say("\(job.label): \(cut)") }
    if !newest.leftovers.isEmpty {
      let processes = newest.leftovers.map(\.label).joined(separator: ", ")
      try await console.say("still alive of it on \(job.host): \(processes)")
    }
  }
}
