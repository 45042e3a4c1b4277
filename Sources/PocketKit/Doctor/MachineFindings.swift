extension HostFacts {
  /// What is to be said of the disk, of limits, and of what may end a job from outside.
  var machineFindings: [Finding] {
    [disk, inodes, fileSystem, logind, clock] + limits + [reaping]
  }

  private var disk: Finding {
    guard let kibibytes = number("disk") else { return .unknown("disk") }
    let place = text("disk", 3) ?? "the home"
    let free = byteCount(kibibytes << 10)
    let of = number("disk", 1).map { " of \(byteCount($0 << 10))" } ?? ""
    // A job's files alone take more than 1 MiB while it runs.
    switch kibibytes {
    case ..<(16 << 10):
      return Finding(
        "disk", .failure, "\(free) are free\(of) in \(place): no job can be started",
        remedy: "make room; `pocket rm` removes jobs that are over")
    case ..<(1 << 20):
      return Finding(
        "disk", .warning, "\(free) are free\(of) in \(place)",
        remedy: "make room, or a job that writes much ends with the disk full")
    default: return Finding("disk", .ok, "\(free) are free\(of) in \(place)")
    }
  }

  private var inodes: Finding {
    guard let free = number("inodes"), let all = number("inodes", 1) else {
      return .unknown("inodes")
    }
    if all == 0 { return Finding("inodes", .ok, "this file system does not count them") }
    if free < 1000 {
      return Finding(
        "inodes", free < 50 ? .failure : .warning, "\(free) files can still be made",
        remedy: "remove files that nobody needs: a job needs about ten")
    }
    return Finding("inodes", .ok, "\(free) of \(all) are free")
  }

  /// Names of file systems that another machine may write to at the same time.
  private static let shared = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "afpfs", "ceph", "fuse.ceph", "lustre", "gpfs",
    "beegfs", "glusterfs", "fuse.glusterfs", "9p", "fuse.sshfs", "webdav", "fuse.davfs",
  ]

  private var fileSystem: Finding {
    if let words = text("writable"), words != "yes" {
      return Finding(
        "file system", .failure, "nothing can be written: \(words)",
        remedy: "jobs live in ~/.pocket/jobs: its owner must be you, and the disk writable")
    }
    guard text("writable") == "yes" else { return .unknown("file system") }
    let type = text("disk", 2)
    if let words = text("links"), words != "yes" {
      return Finding(
        "file system", .failure,
        "\(type ?? "it") takes no hard links, by which a job starts once only: \(words)",
        remedy: "make ~/.pocket a symbolic link to a folder on another file system")
    }
    guard let type else { return .unknown("file system", "it takes files and hard links") }
    guard Self.shared.contains(type) else { return Finding("file system", .ok, type) }
    return Finding(
      "file system", .warning, "\(type): other machines may share this home",
      remedy: "always name the same machine, not one that stands for several: a job runs on one")
  }

  private var logind: Finding {
    guard let kind = text("logind") else { return .unknown("logind") }
    if kind == "none" { return Finding("logind", .ok, "there is no systemd that could end jobs") }
    let values = self("logind")
    // As busctl(1) prints them: `b false`, `as 1 "root"`.
    guard let kills = values.value(1), kills.hasPrefix("b ") else {
      return .unknown("logind", "it was not told whether it ends the processes of who logs out")
    }
    if kills == "b false" {
      return Finding("logind", .ok, "it lets processes live (KillUserProcesses=no)")
    }
    let user = "\"\(text("user") ?? "")\""
    let only = values.value(2) ?? "as 0"
    if values.value(3)?.contains(user) == true || (only != "as 0" && !only.contains(user)) {
      return Finding("logind", .ok, "it ends the processes of others who log out, not yours")
    }
    let lingers = text("linger") == "yes"
    return Finding(
      "logind", .failure,
      "it ends all you started when your last connection ends (KillUserProcesses=yes)"
        + (lingers ? "; that you linger does not save what ssh started" : ""),
      remedy: "set KillUserProcesses=no, or KillExcludeUsers with your name, in logind.conf")
  }

  private var clock: Finding {
    guard let difference = clockDifference else { return .unknown("clock") }
    let seconds = difference.magnitude
    if seconds <= 2 { return Finding("clock", .ok, "as here, to within 2 s") }
    let words = "\(seconds) s \(difference > 0 ? "ahead of" : "behind") the clock here"
    return Finding(
      "clock", seconds <= 30 ? .ok : .warning, words,
      remedy: seconds <= 30 ? nil : "times and ages of jobs are wrong by that: set both by NTP")
  }

  private var limits: [Finding] {
    var findings: [Finding] = []
    if let total = number("memory"), let free = number("memory", 1) {
      findings.append(
        Finding(
          "memory", free < 256 << 10 ? .warning : .ok,
          "\(byteCount(free << 10)) of \(byteCount(total << 10)) are available",
          remedy: free < 256 << 10 ? "an agent alone takes 200 MiB" : nil))
    } else {
      findings.append(.unknown("memory"))
    }
    if let limit = tightest("memory-limit") {
      let isTight = limit.most - limit.used < 512 << 20
      findings.append(
        Finding(
          "memory limit", isTight ? .warning : .ok,
          "a cgroup allows \(byteCount(limit.most)); \(byteCount(limit.used)) are in use",
          remedy: isTight
            ? "what goes beyond it is killed: raise MemoryMax, or do less at once" : nil))
    }
    if let limit = tightest("task-limit") {
      let isTight = limit.most - limit.used < 100
      findings.append(
        Finding(
          "task limit", isTight ? .warning : .ok,
          "a cgroup allows \(limit.most) processes and threads; there are \(limit.used)",
          remedy: isTight ? "raise TasksMax" : nil))
    }
    return findings + resourceLimits
  }

  /// Of limits at several levels the one that leaves the least.
  private func tightest(_ key: String) -> (most: Int64, used: Int64)? {
    all(key).compactMap { limit in
      guard let most = limit.value(0).flatMap({ Int64($0) }),
        let used = limit.value(1).flatMap({ Int64($0) })
      else { return nil }
      return (most, used)
    }.min { $0.most - $0.used < $1.most - $1.used }
  }

  private var resourceLimits: [Finding] {
    var findings: [Finding] = []
    func limit(_ name: String) -> Int64? {
      all("ulimit", of: name).first?.value(0).flatMap { Int64($0) }
    }
    if let blocks = limit("file-size") {
      findings.append(
        Finding(
          "ulimit -f", .warning, "a file may have \(byteCount(blocks << 10)), a job's output too",
          remedy: "a job that writes more is killed (SIGXFSZ): raise it in limits.conf"))
    }
    if let seconds = limit("processor-seconds") {
      findings.append(
        Finding(
          "ulimit -t", .warning, "a process may use \(seconds) s of processor time",
          remedy: "one that uses more is killed (SIGXCPU): raise it in limits.conf"))
    }
    if let kibibytes = limit("address-space") {
      findings.append(
        Finding(
          "ulimit -v", .warning, "a process may have \(byteCount(kibibytes << 10)) of addresses",
          remedy: "many programs, agents too, reserve far more than they use: raise it"))
    }
    if let files = limit("open-files"), files < 256 {
      findings.append(
        Finding(
          "ulimit -n", .warning, "a process may open \(files) files", remedy: "raise it to 1024"))
    }
    return findings
  }

  private var reaping: Finding {
    let zombies = number("zombies").map { $0 == 0 ? "" : "; you have \($0)" } ?? ""
    switch text("reaped") {
    case "yes": return Finding("zombies", .ok, "orphans that end are reaped\(zombies)")
    case "no":
      return Finding(
        "zombies", .warning,
        "orphans that end stay as zombies, since nobody waits for them\(zombies)",
        remedy: "start the container with an init (docker run --init); pocket cancel copes")
    default: return .unknown("zombies")
    }
  }
}
