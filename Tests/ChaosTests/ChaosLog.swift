import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a run of chaos did, and after a failure all that there is to look at: kept in
/// `$POCKET_CHAOS_LOGS`, else in `.build/chaos`.
struct ChaosLog: Sendable {
  let folder: String
  private let start = ContinuousClock.now

  init(seed: UInt64) throws {
    let checkout = sourceFolder(sourceFolder(sourceFolder(#filePath)))
    let base =
      getenv("POCKET_CHAOS_LOGS").map { String(cString: $0) } ?? "\(checkout)/.build/chaos"
    folder = "\(base)/\(seed)"
    for path in [base, folder] { mkdir(path, 0o700) }
    try writeFile("\(folder)/steps.log", [])
  }

  func note(_ text: String) {
    let seconds = start.duration(to: .now).components.seconds
    do {
      try appendToFile("\(folder)/steps.log", Array("\(seconds) s, \(text)\n".utf8))
    } catch {
      print("\(folder)/steps.log cannot be written: \(error)")
    }
  }

  /// Copies the host's home, the store and sshd's log.
  func keep(_ world: ChaosWorld) {
    for (path, name) in [(world.home, "home"), (world.folder.path, "client")] {
      let result = copy(path, "\(folder)/\(name)")
      if result != 0 { print("\(path) cannot be kept in \(folder): cp ended with \(result)") }
    }
    _ = copy(world.server.folder["sshd.log"], "\(folder)/sshd.log")
  }

  private func copy(_ from: String, _ to: String) -> Int32 {
    system("rm -rf '\(to)'; cp -a '\(from)' '\(to)'")
  }
}
