import JobModel
import JobStore

/// What happens to a job while somebody follows it. The output itself is not in the events: it is
/// in the store by the time that `committed` says so, and is read from there.
public enum JobEvent: Sendable {
  /// The host answers.
  case connected
  /// The link was lost or could not be made; the next attempt comes after `retryIn`. The job is not
  /// affected.
  case disconnected(JobError, retryIn: Duration)
  /// Others keep the store busy, so that nothing can be taken in; it is tried again for as long as
  /// somebody waits.
  case storeBusy(StoreError)
  /// The job's state is now this one.
  case state(JobState)
  /// The stream's bytes up to `through` are in the store.
  case committed(JobStream, through: StreamPosition)
  /// A generation of the stream ended at `at` although the stream had not: the file was cut,
  /// replaced or rewritten at the host.
  case gap(JobStream, GapReason, at: ByteOffset)
  /// The command could not be executed at all, with 126 or 127; the host's words.
  case notExecuted(Int, words: String)
  /// Bytes that were written after the end, and are not taken in.
  case late(outBytes: Int64, errBytes: Int64)
  /// The last event: the job is over, as far as will ever be known. After `.finished` and
  /// `.cancelled` all of its output is in the store.
  case ended(JobState)
}
