#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A user account of the test's own with a password, for what the current user's account cannot
/// show: passwords, and servers that read the account's own `~/.ssh`. Only root can make one.
package struct ThrowawayAccount: Sendable {
  package let name: String
  package let password: String
  /// Under /tmp whatever TMPDIR is: the account must be able to enter every folder above it.
  package let home: String

  /// What keeps the account: a shell that removes it when our end of a pipe goes, however that
  /// happens.
  private let keeper: RunningCommand

  private static func make(_ shell: String) async throws -> ThrowawayAccount {
    let suffix = String((0..<6).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement()! })
    let name = "pocket-m-\(suffix)"
    let home = "/tmp/\(name)"
    // `userdel -r` would refuse a home that a running process is still in.
    let remover = """
      trap '' HUP INT TERM
      while read -r _; do :; done
      userdel -f "$1" 2>/dev/null
      rm -rf "$2"
      """
    let keeper = try Command("/bin/sh", ["-c", remover, "sh", name, home], input: .open).start()
    let password = String(
      (0..<20).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement()! })
    let account = ThrowawayAccount(name: name, password: password, home: home, keeper: keeper)
    do {
      try await Command(
        "useradd", ["-M", "-d", home, "-s", shell, name], environment: systemPath
      )
      .succeed()
      try await Command(
        "chpasswd", [], environment: systemPath, input: .bytes(Array("\(name):\(password)\n".utf8))
      ).succeed()
      try await Command("install", ["-d", "-m", "755", "-o", name, home]).succeed()
      try await Command("install", ["-d", "-m", "700", "-o", name, "\(home)/.ssh"]).succeed()
    } catch {
      try await account.remove()
      throw error
    }
    return account
  }

  private static let systemPath = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]

  private func remove() async throws {
    keeper.closeInput()
    _ = try await keeper.exit()
  }

  /// Writes a file that the account owns, below its home.
  package func write(_ name: String, _ text: String) async throws {
    let path = "\(home)/\(name)"
    try writeFile(path, Array(text.utf8))
    try await Command("chown", [self.name, path]).succeed()
  }

  /// Runs `body` with an account that is gone afterwards; with nil where this process is not root.
  ///
  /// - Parameter shell: the path of its login shell.
  package static func with<Result>(
    shell: String = "/bin/sh", isolation: isolated (any Actor)? = #isolation,
    _ body: (ThrowawayAccount?) async throws -> Result
  ) async throws -> Result {
    guard geteuid() == 0 else { return try await body(nil) }
    let account = try await make(shell)
    do {
      let result = try await body(account)
      try await account.remove()
      return result
    } catch {
      try await account.remove()
      throw error
    }
  }
}
