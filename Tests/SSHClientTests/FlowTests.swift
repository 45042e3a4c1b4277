import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  @Suite struct FlowTests {
    /// A waiter whose data was taken in on behalf of another must not sleep on. Both commands write
    /// at the same moments, so that the bytes of both lie in the socket at once, and the next
    /// occasion to notice comes much later than the limit.
    @Test(arguments: enginesUnderTest) func twoChannelsWithSlowLinesSeeEachAtOnce(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        try await withThrowingTaskGroup(of: Duration.self) { group in
          for _ in 0..<2 {
            let process = try await transport.execute(Self.everyThirdSecond)
            group.addTask { try await process.worstDelay(lines: 3) }
          }
          for try await worst in group { #expect(worst < .milliseconds(1500)) }
        }
      }
    }

    private static let everyThirdSecond = """
      for i in 1 2 3; do
        n=$(date +1%N); s=$(date +%s); sleep "$(printf %d.%09d $((2 - s % 3)) $((1999999999 - n)))"
        date +%s%N
      done
      """

    @Test(arguments: enginesUnderTest) func slowLinesArriveAtOnceBesideAFlood(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let flood = try await transport.execute("exec cat /dev/zero")
        let slow = try await transport.execute(Self.everyThirdSecond)
        let reader = Task {
          var count = 0
          while !Task.isCancelled, case .standardOutput(let bytes) = try await flood.read() {
            count += bytes.count
          }
          return count
        }
        let worst = try await slow.worstDelay(lines: 3)
        reader.cancel()
        await flood.abandon()
        let result = await reader.result
        #expect(worst < .milliseconds(1500))
        if case .success(let count) = result { #expect(count > 1 << 20) }
      }
    }

    /// A reactor that does not look at a readable socket for a while is slow, and nothing else shows.
    @Test(arguments: enginesUnderTest) func roundTripsOnSeveralChannelsHaveNoPauses(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let pauses = try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<6 {
            let echo = try await transport.execute("exec cat")
            group.addTask {
              var pauses = 0
              for _ in 0..<400 {
                try await echo.write([UInt8](repeating: 0x0A, count: 3000))
                var left = 3000
                while left > 0 {
                  let start = ContinuousClock.now
                  guard case .standardOutput(let bytes) = try await echo.read() else { break }
                  if ContinuousClock.now - start > .milliseconds(80) { pauses += 1 }
                  left -= bytes.count
                }
              }
              return pauses
            }
          }
          return try await group.reduce(0, +)
        }
        // A busy machine makes some pauses of its own.
        #expect(pauses < 40)
      }
    }

    @Test(arguments: enginesUnderTest) func unreadStderrDoesNotStopStdoutForEver(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let result = try await within(.seconds(30), "5 MB on stderr") {
          try await transport.run(
            "head -c 5000000 /dev/zero >&2; echo done; head -c 3000000 /dev/zero >&2; exit 9")
        }
        #expect(result.outputText == "done\n")
        #expect(result.errors.count == 8_000_000)
        #expect(result.exit == .code(9))
      }
    }

    /// Nobody reads the first channel: its window fills, and that is all.
    @Test(arguments: enginesUnderTest) func anUnreadChannelHoldsUpNoOther(_ engine: EngineChoice)
      async throws
    {
      try await withConnection(engine) { transport, _ in
        let unread = try await transport.execute("head -c 20000000 /dev/zero; echo end")
        for _ in 0..<3 {
          let other = try await within(.seconds(10), "another channel") {
            try await transport.run("head -c 1000000 /dev/zero; exit 3")
          }
          #expect(other.output.count == 1_000_000)
          #expect(other.exit == .code(3))
        }
        let all = try await unread.collect()
        #expect(all.output.count == 20_000_004)
        #expect(all.exit == .code(0))
      }
    }

    @Test(arguments: enginesUnderTest) func twoHundredMegabytesOfInputArriveWhole(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let piece = [UInt8]((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let process = try await transport.execute("cksum; echo no >&2")
        for _ in 0..<200 { try await process.write(piece) }
        try await process.closeStandardInput()
        let result = try await process.collect()
        let local = try await Command(
          "sh", ["-c", "for i in $(seq 200); do cat \"$0\"; done | cksum", try pieceFile(piece)]
        ).succeed()
        #expect(result.outputText == local + "\n")
        #expect(result.errorText == "no\n")
      }
    }

    private func pieceFile(_ bytes: [UInt8]) throws -> String {
      let path = folder["piece"]
      try writeFile(path, bytes)
      return path
    }

    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder("flow") }

    @Test(arguments: enginesUnderTest) func inputForACommandThatHasEndedIsAnErrorAndNoHang(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let process = try await transport.execute("exit 4")
        let error = try await within(.seconds(20), "writing to an ended command") {
          try await sshError {
            while true { try await process.write([UInt8](repeating: 1, count: 1 << 20)) }
          }
        }
        #expect(error.kind == .refused)
        let result = try await process.collect()
        #expect(result.exit == .code(4))
      }
    }

    @Test(arguments: enginesUnderTest) func bothDirectionsAtOnceDoNotBlockEachOther(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let process = try await transport.execute("cat")
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let writer = Task {
          for _ in 0..<50 { try await process.write(piece) }
          try await process.closeStandardInput()
        }
        let result = try await within(.seconds(60), "50 MB there and back") {
          try await process.collect()
        }
        try await writer.value
        #expect(result.output.count == 50 << 20)
        #expect(result.exit == .code(0))
      }
    }

    @Test(arguments: enginesUnderTest) func reKeyingLosesNothing(_ engine: EngineChoice)
      async throws
    {
      var options = LoopbackServer.Options()
      options.serverConfiguration = ["RekeyLimit 1M 1s"]
      try await withConnection(engine, options) { transport, _ in
        async let down = transport.run("head -c 20000000 /dev/zero; exit 5")
        let process = try await transport.execute("wc -c")
        for _ in 0..<20 { try await process.write([UInt8](repeating: 7, count: 1 << 20)) }
        try await process.closeStandardInput()
        let up = try await process.collect()
        let downloaded = try await down
        #expect(downloaded.output.count == 20_000_000)
        #expect(downloaded.exit == .code(5))
        #expect(up.outputText == "20971520\n")
        #expect(up.exit == .code(0))
      }
    }
  }
}

extension RemoteProcess {
  /// Reads lines with the time at which they were written; answers how late the worst one came.
  fileprivate func worstDelay(lines: Int) async throws -> Duration {
    var worst = Duration.zero
    var count = 0
    var rest: [UInt8] = []
    while count < lines {
      guard case .standardOutput(let bytes) = try await read() else {
        throw EndedTooSoon(output: "")
      }
      let now = wallClock()
      rest += bytes
      while let end = rest.firstIndex(of: 0x0A) {
        let sent = Int64(String(decoding: rest[..<end], as: UTF8.self))!
        rest.removeSubrange(...end)
        worst = max(worst, .nanoseconds(now - sent))
        count += 1
      }
    }
    return worst
  }
}
