import Agents
import JobModel
import JobStore
import RemoteScripts
import SSHClient

/// Looks at what jobs would find, here and on a host, and says of each thing whether it is as it
/// should be. It changes nothing, and needs no store.
public struct Doctor: Sendable {
  /// How long opening one channel may take.
  private static let openLimit = Duration.seconds(20)

  /// A server that says no so many times, a tenth of a second apart, is full.
  private static let refusalsBelieved = 15

  /// What it is doing, in words for people; called on no particular thread.
  private let progress: @Sendable (String) -> Void
  private let agents: [any Agent]

  /// - Parameter progress: told each step, in words for people.
  public init(progress: @escaping @Sendable (String) -> Void = { _ in }) {
    (self.progress, agents) = (progress, AgentCatalog.all)
  }

  // MARK: Here

  /// The libraries and programs of this machine.
  public func librariesHere() async -> [Finding] {
    [
      LocalFindings.libssh2(
        version: SSHLibrary.version, isTested: SSHLibrary.isTested, faults: SSHLibrary.knownFaults),
      LocalFindings.ssh(name: await SSHLibrary.programName()),
      LocalFindings.sqlite(
        version: SQLiteLibrary.version, hasWALResetBug: SQLiteLibrary.hasWALResetBug),
    ]
  }

  /// The store, if there is one.
  ///
  /// - Parameter open: opens it; nil where there is none.
  public func store(
    at path: String, open: () async throws(StoreError) -> JobStore?
  ) async -> [Finding] {
    progress("looking at the store")
    do throws(StoreError) {
      guard let store = try await open() else { return [LocalFindings.noStore(at: path)] }
      return LocalFindings.store(try await store.health())
    } catch {
      return [LocalFindings.store(error)]
    }
  }

  // MARK: A host

  /// Connects, on a connection of its own.
  ///
  /// - Throws: `SSHError` when the host cannot be reached, trusted or logged in to.
  public func connect(
    by connector: any Connector
  ) async throws(SSHError) -> (transport: any Transport, findings: [Finding]) {
    progress("connecting to \(connector.hostName)")
    let transport = try await connector.connect()
    return (transport, transport.agreement.findings)
  }

  /// Asks the host by one script, and judges what it tells.
  public func examine(_ transport: any Transport, host: String) async throws(JobError) -> [Finding]
  {
    let facts: HostFacts
    do throws(JobError) {
      facts = try await self.facts(transport, host)
    } catch {
      guard let finding = Finding(scriptFailure: error) else { throw error }
      return [finding]
    }
    return facts.shellFindings + facts.agentFindings(agents) + facts.machineFindings
  }

  private func facts(
    _ transport: any Transport, _ host: String
  ) async throws(JobError) -> HostFacts {
    try await wrapped {
      progress("asking \(host)")
      let arguments = [("agents", agents.map(\.doctorArgument).joined(separator: "+"))]
      let nonce = RemoteScript.freshNonce()
      let start = ContinuousClock.now
      let process = try await transport.execute(
        RemoteScript(.doctor, arguments).command(nonce: nonce), deadline: Self.openLimit)
      do throws(SSHError) {
        // A newline frees a startup file that reads a line.
        try await process.write([0x0A])
      } catch {
        // The command has ended already, or the link: the reading finds out, and why.
      }
      var exchange = Exchange(host: host, nonce: nonce, process: process)
      var facts = HostFacts()
      while let reply = try await exchange.next() {
        switch reply {
        case .fact("clock", let values):
          // The script's first word: later ones may have waited.
          facts.startup = .now - start
          facts.clockDifference = values.value(0).flatMap { Int64($0) }.map { $0 - JobStore.now() }
        case .fact(let key, let values): facts.note(key, values)
        case .step(let words): progress("\(host): \(words)")
        default: break
        }
      }
      facts.noise = exchange.noise.shownInOneLine
      // It counts for the server until it has ended there.
      _ = await process.exit()
      await process.abandon()
      return facts
    }
  }

  /// Measures how many channels the server opens on this connection, which nobody else may use.
  public func measureChannels(_ transport: any Transport, host: String) async -> [Finding] {
    progress("\(host): opening channels until it opens no more")
    var open: [any RemoteProcess] = []
    var count = ChannelCount(open: ChannelCount.enough, isLimit: false)
    var findings: [Finding] = []
    var refusals = 0
    while open.count < ChannelCount.enough {
      do throws(SSHError) {
        // It lives until its input ends, which our letting go of it brings.
        open.append(try await transport.execute("cat", deadline: Self.openLimit))
      } catch {
        let isFull = error.kind == .tooManyChannels || (open.isEmpty && error.kind == .refused)
        refusals += 1
        // The script's own channel may not have ended there.
        if isFull, refusals <= Self.refusalsBelieved, await Self.pause() { continue }
        if isFull {
          count = ChannelCount(open: open.count, isLimit: true)
        } else {
          findings.append(.unknown("channels", "after \(open.count) of them: \(error.message)"))
        }
        break
      }
    }
    for process in open { await process.abandon() }
    return findings.isEmpty ? [count.finding] : findings
  }

  /// False when the task was cancelled.
  private static func pause() async -> Bool {
    do {
      try await Task.sleep(for: .milliseconds(100))
      return true
    } catch {
      return false
    }
  }
}

extension Finding {
  /// A host that does not answer to the script as it should; nil for what is no fault of the host's.
  init?(scriptFailure error: JobError) {
    switch error {
    case .noBash:
      self.init(
        "bash", .failure, "there is none on the PATH of your login shell",
        remedy: "install bash, or add its folder to PATH in your login shell's startup files")
    case .protocolBroken(_, let words):
      self.init(
        "startup files", .failure, "the script was not answered as it should be: \(words)",
        remedy: "look for what waits, prints much or starts another program in the startup files")
    case .host(let error):
      self.init("connection", .failure, error.message, remedy: error.advice)
    default: return nil
    }
  }
}

extension [UInt8] {
  /// The first of its lines, cut to what fits a line of text; control characters and what drives a
  /// terminal (ECMA-48 §5.4, colours for one) are left out.
  var shownInOneLine: String {
    let lines = split { $0 == 0x0A || $0 == 0x0D }.prefix(3).map { line in
      String(decoding: line.withoutControls, as: UTF8.self)
    }
    let text = lines.filter { !$0.isEmpty }.joined(separator: " | ")
    return text.count > 120 ? text.prefix(119) + "…" : text
  }
}

extension ArraySlice<UInt8> {
  fileprivate var withoutControls: [UInt8] {
    var kept: [UInt8] = []
    var rest = self
    while let byte = rest.popFirst() {
      if byte == 0x1B, rest.first == UInt8(ascii: "[") {
        let end = rest.dropFirst().firstIndex { (0x40...0x7E).contains($0) } ?? rest.endIndex - 1
        rest = rest[(end + 1)...]
      } else if byte >= 0x20, byte != 0x7F {
        kept.append(byte)
      }
    }
    return kept
  }
}
