import JobModel
import JobStore
import PocketKit
import SSHClient

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The outside world of a command, in one value: a test gives another one, and no command reads a
/// global.
struct CommandContext: Sendable {
  var environment: Environment
  /// An absolute path.
  var workingDirectory: String
  var console: Console
  /// All of stdin, read to its end.
  var readInput: @Sendable () async throws(CommandError) -> [UInt8]
  /// Lets the user write a text in an editor of his own, and gives it.
  var edit: @Sendable (Environment) async throws(CommandError) -> [UInt8]
  /// Seconds since 1970.
  var now: @Sendable () -> Int64
  /// Begins to listen for Ctrl-C; the stream yields the first.
  var interrupts: @Sendable () -> AsyncStream<Void>
  /// The way to a host, as the settings want it.
  var connector: @Sendable (_ host: String, Settings, Console) throws(SSHError) -> any Connector
  var table: CommandTable
  /// Tells what becomes of wishes that waited for a host; of each run of the program its own.
  var intents: IntentTeller?
}

extension CommandContext {
  /// Opens the user's store, and makes it when there is none.
  func openStore() async throws(StoreError) -> JobStore {
    try await openStore(at: storeLocation())
  }

  /// Opens the store if there is one already.
  func openStoreIfPresent() async throws(StoreError) -> JobStore? {
    let location = try storeLocation()
    return access(location.path, F_OK) == 0 ? try await openStore(at: location) : nil
  }

  private func openStore(at location: StoreLocation) async throws(StoreError) -> JobStore {
    try await JobStore(at: location) { [console] in
      Task {
        do {
          try await console.show(status: Self.storeIsBusy, isNews: true)
        } catch {
          // stderr is gone; the next thing that must be said there finds it out.
        }
      }
    }
  }

  /// What is said while others keep the store busy.
  static let storeIsBusy = "waiting for another program that keeps the store busy…"

  /// Where the user's store lies.
  func storeLocation() throws(StoreError) -> StoreLocation {
    try .default(environment: environment.texts)
  }

  /// The settings, with these flags.
  func settings(_ flags: Settings.Flags = Settings.Flags()) throws(CommandError) -> Settings {
    try .load(flags: flags, environment: environment, workingDirectory: workingDirectory)
  }

  /// What does the work for a command that may talk to hosts.
  func client(_ invocation: Invocation) async throws -> JobClient {
    let settings = try settings(
      Settings.Flags(
        sshConfig: text(invocation[Keys.sshConfig]), transport: text(invocation[Keys.transport])))
    return await client(of: try await openStore(), settings)
  }

  func client(of store: JobStore, _ settings: Settings) async -> JobClient {
    let client = JobClient(
      store: store, onIntent: { [intents] in await intents?.take($0, in: store) },
      connector: { [connector, console] host throws(SSHError) in
        try connector(host, settings, console)
      })
    await intents?.watch(client)
    return client
  }

  /// Tells of an error that does not end the command, and gives the exit code that it stands for.
  func tell(_ error: CommandError, asJSON: Bool) async throws -> ExitCode {
    if asJSON {
      try await console.writeErrors(error.jsonLine)
    } else {
      try await console.say(error.message)
    }
    return error.exit
  }

  /// Refuses what can be no host's name, before it becomes a job's: a host that was never there
  /// would be listed for ever.
  func checkHostName(_ host: String, _ settings: Settings) throws(CommandError) {
    do throws(SSHError) {
      _ = try connector(host, settings, console)
    } catch {
      throw CommandError("host-name", "\(error)", exit: .usage)
    }
  }

  /// The jobs that the words mean, all resolved before anything is done to the first.
  func jobs(_ words: [Word], in store: JobStore) async throws -> [Job] {
    var jobs: [Job] = []
    for word in words {
      let job = try await store.resolve(word.shown)
      if !jobs.contains(where: { $0.id == job.id }) { jobs.append(job) }
    }
    return jobs
  }

  /// An option's value as text.
  func text(_ word: Word?) throws(UsageError) -> String? {
    guard let word else { return nil }
    guard let text = word.text else { throw UsageError("'\(printable(word.shown))' is not UTF-8") }
    return text
  }
}
