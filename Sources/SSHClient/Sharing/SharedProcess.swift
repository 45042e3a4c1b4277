/// A command on one of several connections, which is told when the command needs it no longer.
final class SharedProcess: RemoteProcess {
  private let process: any RemoteProcess
  private let release: Once

  init(_ process: any RemoteProcess, release: @escaping @Sendable () async -> Void) {
    self.process = process
    self.release = Once(release)
  }

  deinit {
    let (process, release) = (process, release)
    Task {
      await process.abandon()
      await release.run()
    }
  }

  func read() async throws(SSHError) -> RemoteOutput { try await process.read() }
  func write(_ bytes: [UInt8]) async throws(SSHError) { try await process.write(bytes) }
  func closeStandardInput() async throws(SSHError) { try await process.closeStandardInput() }
  func exit() async -> RemoteExit { await process.exit() }

  func abandon() async {
    await process.abandon()
    await release.run()
  }
}

/// Something that is done at its first call only.
private actor Once {
  private var body: (@Sendable () async -> Void)?

  init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

  func run() async {
    let body = body
    self.body = nil
    await body?()
  }
}
