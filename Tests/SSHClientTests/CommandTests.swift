import SSHClient
import TestSupport
import Testing

extension SSHClientTests {
  @Suite struct CommandTests {
    @Test func stdoutStderrAndStdinAreKeptApartByteForByte() async throws {
      try await withConnection { transport, _ in
        let every = (0...255).map { UInt8($0) }
        let result = try await transport.run("cat; printf 'e\\000\\377' >&2", input: every)
        #expect(result.output == every)
        #expect(result.errors == [UInt8(ascii: "e"), 0, 255])
        #expect(result.exit == .code(0))
      }
    }

    @Test(arguments: [0, 1, 7, 128, 255])
    func exitCodeArrives(code: Int) async throws {
      try await withConnection { transport, _ in
        let result = try await transport.run("exit \(code)")
        #expect(result.exit == .code(code))
      }
    }
  }
}
