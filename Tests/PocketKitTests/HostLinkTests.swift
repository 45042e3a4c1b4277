import JobStore
import RemoteScripts
import SSHClient
import TestSupport
import Testing

@testable import PocketKit

/// Who waits for the connection to a host, and who gives up.
@Suite struct HostLinkTests {
  /// A fake: a host that can be kept waiting for, and is never reached.
  private final class KeptWaiting: Connector {
    let hostName = "dev1"
    let attempts = Locked(0)
    let isOver = Locked(false)

    func connect() async throws(SSHError) -> any Transport {
      attempts.withLock { $0 += 1 }
      while !isOver.withLock({ $0 }) {
        do {
          try await Task.sleep(for: .milliseconds(5))
        } catch {
          throw SSHError(.cancelled, .cancelled, host: hostName, "cancelled")
        }
      }
      throw SSHError(.connect, .unreachable, host: hostName, "over")
    }
  }

  @Test func oneWhoGivesUpDoesNotEndTheAttemptOfTheOthers() async throws {
    let folder = try TemporaryFolder("store")
    let store = try await JobStore(at: StoreLocation(path: folder["pocket.db"]))
    let connector = KeptWaiting()
    let link = HostLink(host: "dev1", connector: connector, store: store)
    func open() -> Task<JobError?, Never> {
      Task {
        do {
          _ = try await link.open(RemoteScript(.list))
          return nil
        } catch {
          return error as? JobError
        }
      }
    }
    let (first, other) = (open(), open())
    try await waitUntil("both to wait") { await link.callers.all == 2 }
    first.cancel()
    try await waitUntil("the first to give up") { await link.callers.cancelled == 1 }
    connector.isOver.withLock { $0 = true }
    guard case .host(let error) = await other.value else {
      Issue.record("the other was ended as well")
      return
    }
    #expect(error.kind == .unreachable)
    #expect(connector.attempts.withLock { $0 } == 1)
    _ = await first.value

    connector.isOver.withLock { $0 = false }
    let last = open()
    try await waitUntil("it to wait") { connector.attempts.withLock { $0 == 2 } }
    last.cancel()
    guard case .cancelled = await last.value else {
      Issue.record("an attempt that nobody wants goes on")
      return
    }
  }
}
