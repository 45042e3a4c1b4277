import SSHClient
import TestSupport

/// A client that tries a row.
enum Client: String, Sendable, CaseIterable {
  /// The `ssh` program by itself: what Pocket is measured against.
  case ssh
  case openssh
  case libssh2
  case auto
}

extension Scene {
  /// Logs in with one client and does the row's work.
  func attempt(_ client: Client, _ test: Case) async throws -> Cell {
    let askpass = try AskPass(passphrase: passphrase, password: password, in: folder)
    switch client {
    case .ssh: return try await attemptBySSH(test.work, askpass)
    case .openssh: return await attemptByPocket(.openssh, test, askpass)
    case .libssh2: return await attemptByPocket(.libssh2, test, askpass)
    case .auto: return await attemptByPocket(.auto, test, askpass)
    }
  }

  private func attemptBySSH(_ work: Case.Work, _ askpass: AskPass) async throws -> Cell {
    let command = Command(
      "ssh", ["-F", configuration, Self.alias, work.command], environment: askpass.environment,
      input: .bytes([UInt8](repeating: 0, count: work.inputBytes)))
    do {
      let result = try await command.run(deadline: work.deadline)
      // 255 is ssh's own failure (ssh(1)); which one, only its words say.
      if result.code == 255 { return .failedInSSH }
      return judge(work, result.output, result.code.map { .code(Int($0)) } ?? .unknown)
    } catch is CommandTookTooLong {
      return .failedInSSH
    }
  }

  private func attemptByPocket(
    _ engine: EngineChoice, _ test: Case, _ askpass: AskPass
  ) async -> Cell {
    let work = test.work
    let notices = Locked<[String]>([])
    let options = ConnectionOptions(
      engine: engine, configurationFile: configuration, questions: askpass.questions,
      onNotice: { notice in notices.withLock { $0.append(notice) } })
    do {
      let cell = try await within(work.deadline) {
        let transport = try await SSHConnector(host: Self.alias, options: options).connect()
        do {
          let (output, exit) = try await transport.perform(work)
          await transport.close()
          return judge(work, output, exit)
        } catch {
          await transport.close()
          throw error
        }
      }
      return cell == .passed && !notices.withLock({ $0 }).isEmpty ? .passedBySSH : cell
    } catch let error as SSHError {
      // The table has room for its class alone.
      print("\(test.name), \(engine.rawValue): \(error)")
      return .failed("\(error.phase.rawValue), \(error.kind)", beyondLibSSH2: error.beyondLibSSH2)
    } catch {
      return .wrong("\(error)")
    }
  }

  private func judge(_ work: Case.Work, _ output: [UInt8], _ exit: RemoteExit) -> Cell {
    if output != work.output {
      return .wrong("\(output.count) bytes of output, not the right ones")
    }
    return exit == .code(work.code) ? .passed : .wrong("exit \(exit)")
  }
}

extension Transport {
  /// Runs the work's command, its input and its output at the same time.
  fileprivate func perform(_ work: Case.Work) async throws -> ([UInt8], RemoteExit) {
    let process = try await execute(work.command, deadline: .seconds(20))
    async let sent: Void = process.send(work.inputBytes)
    var output: [UInt8] = []
    reading: while true {
      switch try await process.read() {
      case .standardOutput(let bytes): output += bytes
      case .standardError: continue
      case .endOfFile: break reading
      }
    }
    try await sent
    return (output, await process.exit())
  }
}

extension RemoteProcess {
  fileprivate func send(_ count: Int) async throws {
    var left = count
    while left > 0 {
      let size = min(left, 1 << 20)
      try await write([UInt8](repeating: 0, count: size))
      left -= size
    }
    try await closeStandardInput()
  }
}

private func within<Result: Sendable>(
  _ deadline: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: deadline)
      throw NoEnd(deadline: deadline)
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}

private struct NoEnd: Error, CustomStringConvertible {
  var deadline: Duration
  var description: String { "neither an end nor an error within \(deadline)" }
}
