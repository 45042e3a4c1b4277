import SSHClient
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension SSHClientTests {
  @Suite struct ChannelTests {
    /// `ssh` keeps the signal's name to itself.
    @Test(arguments: enginesUnderTest) func deathBySignalIsNoExitCode(_ engine: EngineChoice)
      async throws
    {
      try await withConnection(engine) { transport, _ in
        let result = try await transport.run("kill -KILL $$")
        #expect(result.exit == (engine == .libssh2 ? .signal("KILL") : .unknown))
      }
    }

    /// sshd's ChannelTimeout closes the channel without any status; libssh2 then answers 0.
    @Test(arguments: enginesUnderTest) func aChannelClosedWithoutStatusIsUnknownAndNoSuccess(
      _ engine: EngineChoice
    ) async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["ChannelTimeout session:*=1s"]
      try await withConnection(engine, options) { transport, _ in
        let result = try await within(.seconds(20), "the timeout's close") {
          try await transport.run("sleep 4; exit 7")
        }
        #expect(result.exit == .unknown)
      }
    }

    @Test(arguments: enginesUnderTest) func aServerKilledInMidReplyIsAnErrorAndNeverSuccess(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, server in
        let process = try await transport.execute("echo begun; sleep 100; echo never")
        try await process.readLines(1)
        for pid in try server.connections() { kill(pid, SIGKILL) }
        let error = try await within(.seconds(20), "the end of the link") {
          try await sshError { _ = try await process.collect() }
        }
        #expect(error.kind == .unreachable)
        #expect(await process.exit() == .unknown)
        let later = try await sshError { _ = try await transport.execute("true") }
        #expect(later == error)
      }
    }

    @Test(arguments: enginesUnderTest) func statusAfterTheStreamsEndIsWaitedFor(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let result = try await transport.run("exec >&- 2>&-; sleep 1; exit 6")
        #expect(result.exit == .code(6))
      }
    }

    @Test(arguments: enginesUnderTest) func cancellingAReadLosesNoByteAndLeavesTheChannelUsable(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let process = try await transport.execute("while read -r line; do echo \"$line\"; done")
        for round in 0..<20 {
          let reader = Task { try await process.read() }
          if round % 2 == 0 { try await Task.sleep(for: .milliseconds(5)) }
          reader.cancel()
          if case .failure(let error) = await reader.result {
            #expect((error as? SSHError)?.phase == .cancelled)
          }
        }
        try await process.write([UInt8]("still here\n".utf8))
        let line = try await process.readLines(1)
        #expect(line == "still here\n")
        try await process.closeStandardInput()
        let last = try await process.collect()
        #expect(last.exit == .code(0))
      }
    }

    @Test(arguments: enginesUnderTest) func aCancelledWriteLeavesTheChannelUsable(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        // It reads nothing before it is told to on a file, so that the window fills.
        let process = try await transport.execute("sleep 1; wc -c")
        let writer = Task { try await process.write([UInt8](repeating: 1, count: 50 << 20)) }
        try await Task.sleep(for: .milliseconds(300))
        writer.cancel()
        let error = await writer.result
        #expect(throws: SSHError.self) { try error.get() }
        try await process.write([UInt8]("end".utf8))
        try await process.closeStandardInput()
        let result = try await within(.seconds(20), "the command's end") {
          try await process.collect()
        }
        let count = Int(result.outputText.dropLast())
        #expect(count.map { $0 >= 3 && $0 < 50 << 20 } == true)
        #expect(result.exit == .code(0))
      }
    }

    @Test(arguments: enginesUnderTest) func abandoningARunningCommandDoesNotHang(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let process = try await transport.execute("sleep 77")
        try await within(.seconds(3), "abandoning") { await process.abandon() }
        let later = try await within(.seconds(5), "another command") {
          try await transport.run("echo on")
        }
        #expect(later.outputText == "on\n")
        let error = try await sshError { _ = try await process.read() }
        #expect(error.kind == .cancelled)
        try await within(.seconds(3), "closing") { await transport.close() }
      }
    }

    @Test(arguments: enginesUnderTest) func abandonedChannelsAreFreedWhenTheServerClosesThem(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        // More than sshd allows at once: each must have gone before the eleventh comes.
        for _ in 0..<25 {
          let process = try await transport.execute("read -r line; yes")
          await process.abandon()
          let after = try await transport.run("echo on")
          #expect(after.outputText == "on\n")
        }
      }
    }

    @Test(arguments: enginesUnderTest) func theEleventhChannelIsRefusedAndTheConnectionGoesOn(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        var open: [any RemoteProcess] = []
        for _ in 0..<10 { open.append(try await transport.execute("cat")) }
        let error = try await sshError { _ = try await transport.execute("cat") }
        #expect(error.phase == .open)
        #expect(error.kind == .tooManyChannels)
        #expect(error.message.contains("open failed"))
        for (index, process) in open.enumerated() {
          try await process.write([UInt8]("\(index)".utf8))
          try await process.closeStandardInput()
          let result = try await process.collect()
          #expect(result.outputText == "\(index)")
        }
        let last = try await transport.run("exit 2")
        #expect(last.exit == .code(2))
      }
    }

    @Test(arguments: enginesUnderTest) func manyChannelsOpenedAtOnceAllWork(_ engine: EngineChoice)
      async throws
    {
      try await withConnection(engine) { transport, _ in
        try await withThrowingTaskGroup(of: (Int, Collected).self) { group in
          for index in 0..<8 {
            group.addTask { (index, try await transport.run("echo \(index); exit \(index)")) }
          }
          for try await (index, result) in group {
            #expect(result.outputText == "\(index)\n")
            #expect(result.exit == .code(index))
          }
        }
      }
    }

    @Test(arguments: enginesUnderTest) func aRefusedCommandIsAnErrorOfTheOpening(
      _ engine: EngineChoice
    ) async throws {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["MaxSessions 0"]
      try await withConnection(engine, options) { transport, _ in
        let error = try await sshError { _ = try await transport.execute("true") }
        #expect(error.phase == .open)
        #expect(error.kind == .refused)
      }
    }

    @Test(arguments: enginesUnderTest) func aCommandOf30000BytesRunsAndALongerOneIsRefused(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let filler = String(repeating: "x", count: 30_000 - 7)
        let result = try await transport.run("echo ; #" + filler.dropFirst())
        #expect(result.exit == .code(0))
        let error = try await sshError {
          _ = try await transport.execute("echo ; ##" + filler)
        }
        #expect(error.kind == .refused)
        let last = try await transport.run("exit 3")
        #expect(last.exit == .code(3))
      }
    }

    @Test(arguments: enginesUnderTest) func aCancelledExecuteThrowsAndTheConnectionGoesOn(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        for _ in 0..<10 {
          let opening = Task { try await transport.execute("cat") }
          opening.cancel()
          _ = await opening.result
        }
        let last = try await transport.run("exit 3")
        #expect(last.exit == .code(3))
      }
    }

    @Test(arguments: enginesUnderTest) func everyCallAfterCloseThrows(_ engine: EngineChoice)
      async throws
    {
      try await withConnection(engine) { transport, _ in
        let process = try await transport.execute("cat")
        await transport.close()
        await transport.close()
        let reading = try await sshError { _ = try await process.read() }
        #expect(reading.kind == .cancelled)
        await #expect(throws: SSHError.self) { try await process.write([1]) }
        await #expect(throws: SSHError.self) { try await transport.execute("true") }
        #expect(await process.exit() == .unknown)
        await process.abandon()
      }
    }
  }
}
