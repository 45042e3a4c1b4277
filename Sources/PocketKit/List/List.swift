import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// A job directory on a host, as one look there found it.
public struct HostJob: Sendable {
  /// The job's id.
  public var id: JobID
  /// What was to be run; of the prompt, no more than a title needs.
  public var request: JobRequest
  /// When it was made, in seconds since 1970 by the clock of the client that made it.
  public var createdAt: Int64
  /// What its state is by what was found.
  public var state: JobState
  /// The record of its end, if there is one.
  public var exit: ExitRecord?
}

/// A directory beside the jobs that is none, or none that can be taken over.
public struct PassedOver: Sendable, Hashable {
  /// Why.
  public enum Reason: Sendable, Hashable {
    /// Its name is no job's id.
    case name
    /// There is no request in it, or no `started`: it is being launched, or that was given up.
    case halfWritten
    /// The request is not whole or not well formed.
    case torn
    /// The request is of a format version that this Pocket does not know.
    case version(String)
    /// The request and the prompt are not what the recorded digest was made of.
    case digest
    /// It is being removed.
    case removed
  }

  /// The directory's name; it may hold any character.
  public var directory: String
  /// Why.
  public var reason: Reason
}

extension PassedOver.Reason: CustomStringConvertible {
  /// Half a sentence for people.
  public var description: String {
    switch self {
    case .name: "its name is no job's id"
    case .halfWritten: "its launch is not complete"
    case .torn: "its request cannot be read"
    case .version(let version): "it is of version \(version), which this Pocket does not know"
    case .digest: "its request or prompt is not the one that was launched"
    case .removed: "it is being removed"
    }
  }
}

/// What lies where a host keeps its jobs.
public struct HostListing: Sendable {
  /// The jobs, in the order of their ids.
  public var jobs: [HostJob] = []
  /// What was passed over.
  public var passedOver: [PassedOver] = []
}

extension JobClient {
  /// Looks at all job directories of this user on a host, and changes nothing there.
  public func list(on host: String) async throws(JobError) -> HostListing {
    try await wrapped {
      let link = try await hosts.link(to: host)
      var exchange = try await link.open(RemoteScript(.list))
      return try await link.finishing(exchange.process) {
        var listing = HostListing()
        var found: DirectoryReading?
        while let reply = try await exchange.next() {
          switch reply {
          case .job(let id):
            found?.conclude(into: &listing)
            found = DirectoryReading(id: id)
          case .other(let name):
            listing.passedOver.append(
              PassedOver(directory: String(decoding: name, as: UTF8.self), reason: .name))
          default: found?.note(reply)
          }
        }
        found?.conclude(into: &listing)
        return listing
      }
    }
  }
}

/// Puts together what a host tells of one job directory.
struct DirectoryReading {
  let id: JobID
  private(set) var prompt: [UInt8] = []
  private var request: [UInt8] = []
  private var requestSize: Int64?
  private var promptSize: Int64 = 0
  private var collector = EvidenceCollector()

  init(id: JobID) { self.id = id }

  mutating func note(_ reply: Reply) {
    switch reply {
    case .request(let size, let piece):
      requestSize = size
      request += piece
    case .prompt(let size, let piece):
      promptSize = size
      prompt += piece
    default: collector.note(reply)
    }
  }

  /// Whether all of the prompt is here.
  var hasWholePrompt: Bool { Int64(prompt.count) == promptSize }

  /// The request file with the prompt, and the evidence; or why there is no job.
  func read() -> Result<(file: RequestFile, evidence: Evidence), DirectoryFault> {
    guard let evidence = collector.evidence, evidence.directory != .removed else {
      return .failure(DirectoryFault(reason: .removed))
    }
    guard let requestSize, evidence.start != .none else {
      return .failure(DirectoryFault(reason: .halfWritten))
    }
    if let version = RequestFile.version(in: request), version != "1" {
      return .failure(DirectoryFault(reason: .version(version)))
    }
    guard requestSize == Int64(request.count), var file = RequestFile(request) else {
      return .failure(DirectoryFault(reason: .torn))
    }
    file.request.prompt = prompt
    return .success((file, evidence))
  }

  func conclude(into listing: inout HostListing) {
    switch read() {
    case .success(let (file, evidence)):
      listing.jobs.append(
        HostJob(
          id: id, request: file.request, createdAt: file.created,
          state: .derived(from: evidence), exit: evidence.exit))
    case .failure(let fault):
      listing.passedOver.append(PassedOver(directory: id.description, reason: fault.reason))
    }
  }
}

/// Why a job directory holds no job that can be taken over.
struct DirectoryFault: Error {
  let reason: PassedOver.Reason
}
