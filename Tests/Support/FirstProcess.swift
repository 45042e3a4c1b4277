/// The PID 1 of a process namespace of sshd's own, as in a container (pid_namespaces(7)). When it
/// goes, all that was started in there goes with it.
package enum FirstProcess: String, Sendable, CaseIterable {
  /// It waits for every orphan, as an init does.
  case reaping
  /// It waits for nobody but sshd, as a program does that was made PID 1 of a container: orphans
  /// stay zombies for ever.
  case leavingZombies

  /// For `LoopbackServer.Options`; needs `Namespaces.arePossible`. To stop listening is the end of all
  /// that runs in there.
  package var launcher: [String] {
    // unshare(1) blocks TERM for as long as its child runs.
    let namespace = [
      "sh", "-c", "trap 'kill -KILL $!' TERM; \"$@\" & wait", "sh",
      "unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
    ]
    switch self {
    case .reaping:
      // In a shell `wait` takes in orphans too; it returns when the children that it knows are gone.
      return namespace + ["sh", "-c", "\"$@\" & wait", "init"]
    case .leavingZombies:
      let checkout = sourceFolder(sourceFolder(sourceFolder(#filePath)))
      return namespace + ["python3", "\(checkout)/spikes/unreaping.py"]
    }
  }
}
