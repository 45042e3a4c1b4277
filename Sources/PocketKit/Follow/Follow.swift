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
    var fruitless = 0
    var backoff = Backoff()
    while true {
      let job = try await client.store.knownJob(id)
      if job.proved || job.state.isSettledWithoutHost {
        emit(.ended(job.state))
        return
      }
      let outcome = try await persistently(patience: patience, progress: emit) {
        try await pass(job)
      } onGivingUp: { failure in
        try await client.noteUnreachable(job, failure)
      }
      switch outcome {
      case .ended(let state):
        emit(.ended(state))
        return
      case .notStarted:
        _ = try await client.launch(id, secrets: secrets, patience: patience, progress: emit)
      case .again(let progressed):
        // A frame that does not fit is dropped with its channel, and read again. When that keeps
        // happening without a byte gained, the file is being rewritten faster than it can be read.
        fruitless = progressed ? 0 : fruitless + 1
        if fruitless > 1 {
          try await Task.sleep(for: backoff.wait(after: nil))
        } else {
          backoff.reset()
        }
      }
    }
  }

  private func pass(_ job: Job) async throws -> FollowPass.Outcome {
    var pass = try await FollowPass(client: client, job: job, emit: emit)
    return try await pass.run()
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
