import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Accounts with a password that only one sshd sees: it runs in a mount namespace of its own, where
/// another folder lies over `/etc` (mount_namespaces(7)). The folder and not its files: whoever
/// replaces a file of the true `/etc` would take the mount on it away.
struct Accounts {
  static let password = "correct horse"

  /// Only root on Linux may make such a namespace.
  static let arePossible: Bool = {
    #if os(Linux)
      geteuid() == 0 && system("unshare --mount true >/dev/null 2>&1") == 0
    #else
      false
    #endif
  }()

  private let folder: TemporaryFolder

  /// - Parameter names: all of them are root by another name.
  init(_ names: [String]) async throws {
    folder = try TemporaryFolder("accounts")
    let hash = try await Command(
      "perl", ["-e", "print crypt($ARGV[0], q($6$salt$))", Self.password]
    ).succeed()
    let root = "root:x:0:0::/root:/bin/sh\nsshd:x:102:65534::/run/sshd:/usr/sbin/nologin\n"
    try folder.write("passwd", root + names.map { "\($0):x:0:0::/root:/bin/sh\n" }.joined())
    try folder.write("shadow", names.map { "\($0):\(hash):19000:0:99999:7:::\n" }.joined())
    try folder.write("group", "root:x:0:\nnogroup:x:65534:\n")
    try folder.write("nsswitch.conf", "passwd: files\nshadow: files\ngroup: files\n")
    _ = try folder.folder("pam.d")
    try folder.write(
      "pam.d/sshd",
      """
      auth required pam_unix.so nodelay
      account required pam_permit.so
      session required pam_permit.so

      """)
    try await Command("cp", ["/etc/ld.so.cache", folder.path]).succeed()
  }

  /// For `LoopbackServer.Options`.
  var launcher: [String] {
    ["unshare", "--mount", "sh", "-c", "mount --bind \"$0\" /etc && exec \"$@\"", folder.path]
  }
}
