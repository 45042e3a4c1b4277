import JobModel
import JobStore
import SSHClient

/// What can be done about jobs: start, follow, cancel, look, verify, remove.
///
/// A client prints nothing, asks nothing and may vanish at any moment: what it knows is in the store
/// and what it has begun goes on at the host. Several clients of one store, in one process or in
/// many, do not disturb each other. All calls may be made from any task.
public struct JobClient: Sendable {
  /// The store behind this client.
  public let store: JobStore
  let hosts: Hosts
  let intents: IntentDrain

  /// A client of `store`.
  ///
  /// - Parameters:
  ///   - onIntent: told what becomes of wishes that waited for a host; they are carried out whenever
  ///     it was connected to.
  ///   - connector: gives the way to a host, from the name that the user has for it. It is asked once
  ///     a host.
  public init(
    store: JobStore, onIntent: @escaping @Sendable (IntentEvent) async -> Void = { _ in },
    connector: @escaping @Sendable (_ host: String) throws(SSHError) -> any Connector
  ) {
    self.store = store
    intents = IntentDrain(store: store, report: onIntent)
    hosts = Hosts(connector: connector, store: store, intents: intents)
  }

  /// Writes a new job down, before the first byte leaves: from here on it cannot be forgotten.
  ///
  /// - Parameter session: the agent session's id where it is chosen before the start.
  /// - Throws: `JobError`; `.store` when the name is taken.
  public func create(
    _ request: JobRequest, on host: String, session: String? = nil
  ) async throws(JobError) -> Job {
    do throws(RequestError) { try request.validate() } catch { throw .request(error) }
    return try await wrapped {
      var job = Job(id: .random(), host: host, request: request, createdAt: JobStore.now())
      job.agentSession = session
      try await store.insert(job)
      return job
    }
  }

  /// Closes the connections to all hosts. Jobs go on.
  public func disconnect() async { await hosts.disconnectAll() }
}

/// The links to the hosts of one client.
actor Hosts {
  private let connector: @Sendable (String) throws(SSHError) -> any Connector
  private let store: JobStore
  private let intents: IntentDrain
  private var links: [String: HostLink] = [:]

  init(
    connector: @escaping @Sendable (String) throws(SSHError) -> any Connector, store: JobStore,
    intents: IntentDrain
  ) {
    (self.connector, self.store, self.intents) = (connector, store, intents)
  }

  func link(to host: String) throws(JobError) -> HostLink {
    if let link = links[host] { return link }
    do throws(SSHError) {
      let link = HostLink(host: host, connector: try connector(host), store: store) {
        [weak self, intents] in
        guard let self else { return }
        await intents.contact(with: host, through: self)
      }
      links[host] = link
      return link
    } catch {
      throw JobError(error)
    }
  }

  func disconnectAll() async {
    for link in links.values { await link.disconnect() }
  }
}

/// Runs `body`, whose errors are those of the store, of the link, or `JobError` already.
func wrapped<Value>(_ body: () async throws -> Value) async throws(JobError) -> Value {
  do {
    return try await body()
  } catch let error as JobError {
    throw error
  } catch let error as StoreError {
    throw .store(error)
  } catch let error as SSHError {
    throw JobError(error)
  } catch let error as RequestError {
    throw .request(error)
  } catch {
    // Only a cancelled sleep or wait is left.
    throw .cancelled
  }
}
