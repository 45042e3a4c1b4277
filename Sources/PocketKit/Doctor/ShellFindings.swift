extension HostFacts {
  /// What is to be said of the system, the shells and the programs that Pocket's scripts use.
  var shellFindings: [Finding] {
    [system, loginShell, startupFiles, bash] + utilities + [session] + paths
  }

  private var system: Finding {
    guard let kernel = text("system") else { return .unknown("system") }
    let name = text("system", 1).map { "\($0), " } ?? ""
    let isTested = kernel.hasPrefix("Linux")
    return Finding(
      "system", isTested ? .ok : .warning, name + kernel,
      remedy: isTested ? nil : "jobs are tested on Linux only: expect less to be known of them here"
    )
  }

  private var loginShell: Finding {
    guard let shell = text("user", 2) else { return .unknown("login shell") }
    return Finding("login shell", .ok, shell)
  }

  private var startupFiles: Finding {
    let seconds = startup.components.seconds
    let isSlow = seconds >= 5
    let time = isSlow ? "; they take \(seconds) s, at every contact" : ""
    guard !noise.isEmpty else {
      return Finding(
        "startup files", isSlow ? .warning : .ok, "they print nothing\(time)",
        remedy: isSlow ? "do slow things there only where the shell is interactive" : nil)
    }
    return Finding(
      "startup files", .warning, "they print to every command: “\(noise)”\(time)",
      remedy: "print only where the shell is interactive; Pocket copes, scp and rsync do not")
  }

  private var bash: Finding {
    guard let version = text("bash") else { return .unknown("bash") }
    let place = text("bash", 1).map { ", \($0)" } ?? ""
    let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
    guard numbers.count == 2, numbers.lexicographicallyPrecedes([3, 2]) else {
      return Finding("bash", .ok, version + place)
    }
    return Finding(
      "bash", .failure, "\(version)\(place) is older than 3.2",
      remedy: "put a newer bash first on the PATH of your login shell there")
  }

  /// Without these Pocket can do less, and goes on; without any other it cannot work.
  private static let optional: Set = ["setsid", "stdbuf", "sha256sum"]

  private var utilities: [Finding] {
    var flavours: [(name: String, utilities: [String])] = []
    var missing: [String] = []
    for utility in all("utility") {
      guard let name = utility.value(0) else { continue }
      guard utility.value(1) != nil else {
        missing.append(name)
        continue
      }
      let flavour = utility.value(2) ?? "other"
      if let index = flavours.firstIndex(where: { $0.name == flavour }) {
        flavours[index].utilities.append(name)
      } else {
        flavours.append((flavour, [name]))
      }
    }
    guard !flavours.isEmpty else { return [.unknown("utilities")] }
    let required = missing.filter { !Self.optional.contains($0) }
    let words =
      flavours.count == 1
      ? "all \(flavours[0].name)"
      : flavours.map { "\($0.name): \($0.utilities.joined(separator: " "))" }
        .joined(separator: "; ")
    var findings = [Finding("utilities", .ok, words)]
    if !required.isEmpty {
      findings = [
        Finding(
          "utilities", .failure, "there is no \(required.joined(separator: ", no "))",
          remedy: "install what is missing, on the PATH of your login shell")
      ]
    }
    if missing.contains("sha256sum") {
      findings.append(
        Finding(
          "sha256sum", .ok, "not there; `pocket verify` needs it, or shasum, or openssl"))
    }
    return findings
  }

  private var session: Finding {
    let setsid = all("utility", of: "setsid").first
    guard let setsid else { return .unknown("setsid") }
    if let path = setsid.value(0) { return Finding("setsid", .ok, path) }
    return Finding(
      "setsid", .warning, "not there: a job stays in the session of the connection that started it",
      remedy: "install it (util-linux), where something on the host ends sessions")
  }

  private var paths: [Finding] {
    func path(_ name: String) -> String? { all("path", of: name).first?.value(0) }
    guard let login = path("login") else { return [.unknown("PATH")] }
    var findings = [Finding("PATH", .ok, login)]
    let known = Set(login.split(separator: ":"))
    let own = text("user", 2)?.split(separator: "/").last.map(String.init) ?? "login shell"
    for (name, shell) in [("bash", "bash"), ("shell", own)] {
      guard !all("path", of: name).isEmpty else { continue }
      let subject = name == "bash" ? "PATH, bash" : "PATH, shell"
      guard let found = path(name) else {
        findings.append(
          Finding(
            subject, .warning, "an interactive \(shell) did not say its PATH within 10 s",
            remedy: "look for what waits or starts another program in its startup files"))
        continue
      }
      let more = found.split(separator: ":").filter { !known.contains($0) }
      findings.append(
        more.isEmpty
          ? Finding(subject, .ok, "an interactive \(shell) has no other folders")
          : Finding(
            subject, .warning,
            "only an interactive \(shell) has \(more.joined(separator: ":")); jobs do not",
            remedy: "set PATH in ~/.bash_profile or ~/.profile, or name programs by their path"))
    }
    return findings
  }
}
