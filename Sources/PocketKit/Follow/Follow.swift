import JobModel
import JobStore
import SSHClient

/// What a follow gives: events, and an error when it cannot go on.
public typealias JobEvents = AsyncThrowingStream<JobEvent, any Error>

extension JobClient {
  /// Takes in the job's output from the committed offsets on, to the end, through any number of lost
  /// connections. A job whose launch was never confirmed is launched again first.
  ///
  /// The work goes on whether or not somebody takes the events; it ends with the sequence, or when
  /// the task that iterates is cancelled. The job itself is never affected. The error is a
  /// `JobError`.
  ///
  /// - Parameters:
  ///   - secrets: needed only when the job turns out not to have been started.
  ///   - patience: how long a host is tried that does not answer at all; after its first answer it
  ///     is tried for ever.
  public func follow(
    _ id: JobID, secrets: Secrets = [], patience: Duration = .seconds(20)
  ) -> JobEvents {
    let (events, continuation) = JobEvents.makeStream()
    let follow = Follow(
      client: self, id: id, secrets: secrets, patience: patience,
      emit: { continuation.yield($0) })
    let task = Task {
      do throws(JobError) {
        try await wrapped { try await follow.run() }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return events
  }
}

/// One client's follow of one job: passes over channels until the job is over.
struct Follow: Sendable {
  let client: JobClient
  let id: JobID
  let secrets: Secrets
  let patience: Duration
  let emit: @Sendable (JobEvent) -> Void

  func run() async throws {
    var persistence = Persistence(patience: patience, progress: emit)
    var fruitless = Backoff()
    while true {
      let job = try await client.store.knownJob(id)
      if job.proved || job.state.isSettledWithoutHost {
        emit(.ended(job.state))
        return
      }
      var pass = try await FollowPass(client: client, job: job, emit: emit)
      let outcome: FollowPass.Outcome
      do {
        outcome = try await pass.run()
        if case .lifeless = outcome {
          // Why, is asked only now: the answer costs the host more than a beat may.
          let state = try await client.inspect(id).state
          if case .lost = state {
            emit(.state(state))
            emit(.ended(state))
            return
          }
        }
      } catch {
        if pass.wasAnswered {
          persistence.noteAnswer(progressed: pass.progressed)
        } else if let failure = error as? JobError {
          // A link that was cut and is made anew at once is no failure to ask.
          try await client.noteUnreachable(job, failure)
        }
        try await persistence.recover(from: error)
        continue
      }
      persistence.noteAnswer(progressed: pass.progressed)
      switch outcome {
      case .ended(let state):
        emit(.ended(state))
        return
      case .notStarted:
        _ = try await client.launch(id, secrets: secrets, patience: patience, progress: emit)
      case .again, .lifeless:
        // A frame that does not fit is dropped with its channel, and read again. When that keeps
        // happening without a byte gained, the file is being rewritten faster than it can be read.
        if pass.progressed { fruitless.reset() }
        try await Task.sleep(for: fruitless.wait(after: nil))
      }
    }
  }
}

extension JobState {
  /// Whether the host can add nothing to this state.
  var isSettledWithoutHost: Bool {
    switch self {
    case .neverStarted, .cancelled(nil), .lost(.removed), .lost(.directoryGone), .lost(.outputCut):
      true
    default: false
    }
  }
}
