#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file system of a chosen size: a tmpfs. Only root can mount one.
package struct SmallDisk: Sendable {
  /// Where it is mounted.
  package let path: String

  /// Fills it to the last byte with a file in it; removing that file makes space again.
  ///
  /// - Returns: the file's path.
  @discardableResult
  package func fill() async throws -> String {
    let file = "\(path)/filling"
    // It ends with "no space left", which is what is wanted.
    _ = try await Command("dd", ["if=/dev/zero", "of=\(file)", "bs=4096"]).run()
    return file
  }

  /// Runs `body` with a disk of so many bytes mounted over the folder `path`, and unmounts it
  /// afterwards, whatever happens; a shell does that should this process die.
  package static func with<Result>(
    bytes: Int, at path: String, isolation: isolated (any Actor)? = #isolation,
    _ body: (SmallDisk) async throws -> Result
  ) async throws -> Result {
    let keeper = """
      trap '' HUP INT TERM
      mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" || exit
      echo mounted
      while read -r _; do :; done
      umount -l "$2"
      """
    let mount = try Command("/bin/sh", ["-c", keeper, "sh", "\(bytes)", path], input: .open).start()
    try await mount.waitForOutput("a mounted tmpfs") { !$0.isEmpty }
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body(SmallDisk(path: path)))
    } catch {
      result = .failure(error)
    }
    mount.closeInput()
    _ = try await mount.exit()
    return try result.get()
  }
}
