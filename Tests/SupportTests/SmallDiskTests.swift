import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.enabled(if: geteuid() == 0, "only root can mount a disk")) struct SmallDiskTests {
  @Test func itHoldsAsMuchAsWasSaidAndGoesWithItsScope() async throws {
    let folder = try TemporaryFolder("disk")
    try await SmallDisk.with(bytes: 1 << 20, at: folder.path) { disk in
      try writeFile("\(disk.path)/half", [UInt8](repeating: 1, count: 1 << 19))
      let filling = try await disk.fill()
      let size = try fileSize(filling)
      #expect(size > 1 << 18 && size <= 1 << 19)
      let error = #expect(throws: SystemError.self) {
        try appendToFile("\(disk.path)/half", [UInt8](repeating: 1, count: 1 << 16))
      }
      #expect(error?.number == ENOSPC)
      unlink(filling)
      try appendToFile("\(disk.path)/half", [UInt8](repeating: 1, count: 1 << 16))
    }
    #expect(namesInFolder(folder.path).isEmpty)
  }
}
