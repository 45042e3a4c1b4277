import JobModel
import JobStore
import SSHClient

/// Why something could not be done about a job. Its description is one sentence for people, with
/// the host's own words; what to do next follows where that is known.
public enum JobError: Error, Sendable {
  /// The host could not be reached, trusted or logged in to.
  case host(SSHError)
  /// The store could not be read or written.
  case store(StoreError)
  /// The request could not be sent as it is.
  case request(RequestError)
  /// The host answered, but not as a host with Pocket's script would; its words are in the text.
  case protocolBroken(host: String, String)
  /// The host has no bash on the PATH of the user's login shell.
  case noBash(host: String)
  /// The host's script could not do its work, and said why.
  case hostFailed(host: String, Reply.ErrorKind, words: String)
  /// The job reads secrets that this call was not given; these are their names.
  case secretsMissing([String])
  /// The job has not ended, or not all of its output is in the store.
  case notOver(JobID, JobState)
  /// The job directory cannot be taken over.
  case notAdoptable(JobID, host: String, PassedOver.Reason)
  /// The cancel could not be carried out, for this reason. It is kept, and will be carried out at the
  /// next contact with the host.
  indirect case cancelQueued(JobError)
  /// The caller's task was cancelled.
  case cancelled
}

extension JobError: CustomStringConvertible {
  /// What happened, where, and what to do, in one sentence.
  public var description: String {
    switch self {
    case .host(let error): error.description
    case .store(let error): "\(error)"
    case .request(let error): "\(error)"
    case .protocolBroken(let host, let words): "\(host): \(words)"
    case .noBash(let host):
      "\(host): there is no bash on the PATH of your login shell there, and Pocket needs one."
    case .hostFailed(let host, let kind, let words): "\(host): \(Self.sentence(kind, words))"
    case .secretsMissing(let names):
      "the job was never started, and starting it needs \(names.joined(separator: ", ")) again:"
        + " give --env or --env-file as before."
    case .notOver(let id, let state):
      state.isEnded
        ? "\(id): not all of its output is here yet; `pocket resume \(id)` brings it."
        : "\(id) has not ended; `pocket cancel \(id)` ends it."
    case .notAdoptable(let id, let host, let reason):
      "\(id) on \(host) cannot be taken over: \(reason)."
    case .cancelQueued(.host(let error)) where error.isWorthRetrying:
      "\(error.host) cannot be reached now (\(error.message)); \(Self.kept)."
    case .cancelQueued(let cause): "\(cause) (\(Self.kept))"
    case .cancelled: "stopped."
    }
  }

  private static let kept = "the cancel is queued and will be carried out at the next contact"

  private static func sentence(_ kind: Reply.ErrorKind, _ words: String) -> String {
    switch kind {
    case .digest: "another job has this id there: \(words)"
    case .payload: "the request did not arrive whole: \(words)"
    case .write: "the host refused to write: \(words)"
    case .nostart: "\(words)"
    case .elsewhere: "the job belongs to another machine: \(words)"
    case .running: "\(words)"
    case .missing: "there is no such job: \(words)"
    case .stranger: "nothing was signalled, since \(words)"
    }
  }
}
