import SSHClient

extension RemoteProcess {
  /// Shows a follower on the host that its client lives, until the task is cancelled. The host waits
  /// four times as long.
  func signsOfLife() -> Task<Void, any Error> {
    Task {
      while true {
        // When this fails the link has, and the read finds that out.
        try await write([0x0A])
        try await Task.sleep(for: .seconds(15))
      }
    }
  }
}
