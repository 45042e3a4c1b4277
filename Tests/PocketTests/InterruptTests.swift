import CPosix
import Testing

@testable import pocket

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1))) struct InterruptTests {
  @Test func theSecondInterruptLeavesAtOnce() async {
    await #expect(processExitsWith: .exitCode(130)) {
      let first = Interrupts.first()
      // kill(2), not raise(3): the pool's own threads block all signals.
      kill(getpid(), SIGINT)
      for await _ in first { break }
      kill(getpid(), SIGINT)
      // Only the second interrupt ends this.
      while true { try? await Task.sleep(for: .seconds(1)) }
    }
  }

  @Test func aBrokenPipeKillsNobody() async {
    await #expect(processExitsWith: .exitCode(7)) {
      guard pocket_survive_broken_pipes() == 0 else { _exit(1) }
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0, close(ends[0]) == 0 else { _exit(2) }
      do throws(OutputError) {
        try DescriptorSink(descriptor: ends[1]).write([0x61])
      } catch {
        _exit(error.isReaderGone ? 7 : 3)
      }
      _exit(4)
    }
  }
}
