import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  @Suite struct CommandTests {
    @Test(arguments: enginesUnderTest) func stdoutStderrAndStdinAreKeptApartByteForByte(
      _ engine: EngineChoice
    ) async throws {
      try await withConnection(engine) { transport, _ in
        let every = (0...255).map { UInt8($0) }
        let result = try await transport.run("cat; printf 'e\\000\\377' >&2", input: every)
        #expect(result.output == every)
        #expect(result.errors == [UInt8(ascii: "e"), 0, 255])
        #expect(result.exit == .code(0))
      }
    }

    /// 255 too, which `ssh` uses for its own failures.
    @Test(arguments: enginesUnderTest, [0, 1, 7, 128, 255])
    func exitCodeArrives(_ engine: EngineChoice, code: Int) async throws {
      try await withConnection(engine) { transport, _ in
        let result = try await transport.run("exit \(code)")
        #expect(result.exit == .code(code))
      }
    }
  }
}
