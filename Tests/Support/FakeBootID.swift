/// The boot id of one sshd and of all that it starts: another file lies over the kernel's, in a mount
/// namespace of their own. A fake: a machine that really started anew would have lost its processes
/// as well.
package struct FakeBootID: Sendable {
  private let folder: TemporaryFolder

  /// - Parameter id: at first; 36 characters as in `/proc/sys/kernel/random/boot_id`.
  package init(_ id: String) throws {
    folder = try TemporaryFolder("boot-id")
    try set(id)
  }

  /// Changes it for what already runs too, as no true boot does. The file is overwritten in place,
  /// since a new one would not lie under the mount.
  package func set(_ id: String) throws { try folder.write("boot_id", id + "\n") }

  /// For `LoopbackServer.Options`; needs `Namespaces.arePossible`.
  package var launcher: [String] {
    let mount = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\""
    return ["unshare", "--mount", "sh", "-c", mount, folder["boot_id"]]
  }
}
