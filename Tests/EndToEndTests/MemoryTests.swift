import JobModel
import TestSupport
import Testing

@Suite struct MemoryTests {
  /// Catching up must not take memory in proportion to what there is to catch up.
  @Test(
    .enabled(
      if: releaseBinary != nil, "a debug build is measured in minutes; make test sets POCKET_BINARY"
    ))
  func resumeCatchesUpWithOneGibibyteInLittleMemory() async throws {
    try await ProgramWorld.with { world in
      let size = 1 << 30
      let id = try await world.start(
        "yes '{\"type\":\"assistant\",\"text\":\"한글 한 줄과 조금 더\"}' | head -c \(size)")
      try await waitUntil("the job file", deadline: .seconds(120)) {
        try fileSize(world.hostFile(id, .out)) == size
      }
      var resume = world.pocket("resume", "\(id)")
      resume.output = .discard
      resume.measuresMemory = true
      let result = try await resume.run(deadline: .seconds(400))
      #expect(result.end == .code(0), "\(result.errorText)")
      let peak = result.peakResidentBytes
      print("catching up with 1 GiB took \(result.duration) and \(peak / 1_048_576) MiB at most")
      #expect(peak < 64 << 20)
      #expect(
        try await world.pocket("verify", "\(id)").run(deadline: .seconds(120)).end == .code(0))
    }
  }
}
