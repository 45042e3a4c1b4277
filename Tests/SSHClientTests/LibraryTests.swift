import CSSH2
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct LibraryTests {
  /// The loader takes libssh2 from wherever LD_LIBRARY_PATH leads: without this, a whole lane could
  /// pass on the library that it was not meant for.
  @Test func theLibraryIsTheOneThatThisLaneIsFor() throws {
    let loaded = String(cString: try #require(libssh2_version(0)))
    let expected = getenv("POCKET_EXPECT_LIBSSH2").map { String(cString: $0) }
    #expect(loaded == expected ?? LIBSSH2_VERSION)
  }
}
