import Agents
import JobStore
import SSHClient
import Testing

@testable import PocketKit

/// What is made of facts: each case differs in one of them from a host where all is well.
@Suite struct DoctorFindingTests {
  /// A fact that is told in place of the good host's, and the finding that it makes.
  struct Case: Sendable, CustomTestStringConvertible {
    var key: String
    var values: [String?]
    var subject: String
    var verdict: Finding.Verdict
    var words: String

    init(
      _ key: String, _ values: [String?], _ subject: String, _ verdict: Finding.Verdict,
      _ words: String
    ) {
      (self.key, self.values, self.subject) = (key, values, subject)
      (self.verdict, self.words) = (verdict, words)
    }

    var testDescription: String { "\(key) \(values.map { $0 ?? "-" }.joined(separator: " "))" }
  }

  private static let good: [(key: String, values: [String?])] = [
    ("system", ["Linux 6.1 x86_64", "Debian GNU/Linux 12"]),
    ("user", ["me", "/home/me", "/bin/bash"]), ("bash", ["5.2.15(1)-release", "/usr/bin/bash"]),
    ("utility", ["base64", "/usr/bin/base64", "GNU"]),
    ("utility", ["setsid", "/usr/bin/setsid", "GNU"]),
    ("disk", ["82000000", "264000000", "ext4", "/home/me"]), ("inodes", ["16000000", "17000000"]),
    ("writable", ["yes"]), ("links", ["yes"]),
    ("logind", ["systemd", "b false", "as 0", #"as 1 "root""#]),
    ("memory", ["24000000", "20000000"]), ("reaped", ["yes"]), ("zombies", ["0"]),
    ("path", ["login", "/usr/bin:/bin"]), ("path", ["bash", "/usr/bin:/bin"]),
    ("agent", ["claude", "/usr/bin/claude", "login"]),
    ("version", ["claude", "2.1.332 (Claude Code)"]),
    ("credentials", ["claude", "/home/me/.claude/.credentials.json"]),
  ]

  /// - Parameter fact: takes the place of what the good host says about the same thing.
  private static func facts(
    with fact: (key: String, values: [String?])? = nil
  ) -> HostFacts {
    let named: Set = ["path", "agent", "version", "credentials", "utility"]
    var facts = HostFacts(
      good.filter { one in
        guard let fact, one.key == fact.key else { return true }
        return named.contains(one.key) && one.values.first != fact.values.first
      } + (fact.map { [$0] } ?? []))
    facts.clockDifference = 0
    return facts
  }

  private static func findings(_ facts: HostFacts) -> [Finding] {
    facts.shellFindings + facts.agentFindings(AgentCatalog.all) + facts.machineFindings
  }

  @Test func aHostWhereAllIsWellHasNothingToBeMended() {
    for finding in Self.findings(Self.facts()) {
      #expect(finding.verdict == .ok && finding.remedy == nil, "\(finding)")
    }
  }

  private static let cases: [Case] = [
    Case("system", ["Darwin 24.1 arm64", nil], "system", .warning, "Darwin"),
    Case("bash", ["3.2.57(1)-release", "/bin/bash"], "bash", .ok, "3.2.57"),
    Case("bash", ["3.1.0(1)-release", "/bin/bash"], "bash", .failure, "older than 3.2"),
    Case("utility", ["tail", nil, nil], "utilities", .failure, "there is no tail"),
    Case("utility", ["setsid", nil, nil], "setsid", .warning, "not there"),
    Case("utility", ["stdbuf", nil, nil], "utilities", .ok, "all GNU"),
    Case("utility", ["sha256sum", nil, nil], "sha256sum", .ok, "not there"),
    Case(
      "utility", ["head", "/bb/head", "busybox"], "utilities", .ok,
      "GNU: base64 setsid; busybox: head"),
    Case("disk", [nil, nil, nil, nil], "disk", .ok, "unknown"),
    Case("disk", ["16383", "264000000", "ext4", "/home/me"], "disk", .failure, "15 MiB are free"),
    Case("disk", ["16384", "264000000", "ext4", "/home/me"], "disk", .warning, "16 MiB are free"),
    Case("disk", ["1048576", "264000000", "ext4", "/home/me"], "disk", .ok, "1 GiB are free"),
    Case("disk", ["82000000", "264000000", "nfs4", "/h"], "file system", .warning, "nfs4"),
    Case("inodes", ["0", "0"], "inodes", .ok, "does not count"),
    Case("inodes", ["49", "1000"], "inodes", .failure, "49 files"),
    Case("inodes", ["999", "100000"], "inodes", .warning, "999 files"),
    Case("writable", ["mkdir: Permission denied"], "file system", .failure, "Permission denied"),
    Case("links", ["ln: Operation not permitted"], "file system", .failure, "no hard links"),
    Case("logind", ["none"], "logind", .ok, "no systemd"),
    Case("logind", ["systemd", nil, nil, nil], "logind", .ok, "unknown"),
    Case("logind", ["systemd", "b true", "as 0", "as 0"], "logind", .failure, "KillUser"),
    Case(
      "logind", ["systemd", "b true", "as 0", #"as 2 "root" "me""#], "logind", .ok, "not yours"),
    Case("logind", ["systemd", "b true", #"as 1 "they""#, "as 0"], "logind", .ok, "not yours"),
    Case("logind", ["systemd", "b true", #"as 1 "me""#, "as 0"], "logind", .failure, "KillUser"),
    Case("memory", ["24000000", "200000"], "memory", .warning, "195 MiB of 22 GiB"),
    Case("memory-limit", ["1073741824", "104857600"], "memory limit", .ok, "1 GiB; 100 MiB"),
    Case("memory-limit", ["536870912", "104857600"], "memory limit", .warning, "512 MiB"),
    Case("task-limit", ["120", "30"], "task limit", .warning, "120 processes"),
    Case("ulimit", ["file-size", "1024"], "ulimit -f", .warning, "1 MiB"),
    Case("ulimit", ["open-files", "64"], "ulimit -n", .warning, "64 files"),
    Case("reaped", ["no"], "zombies", .warning, "nobody waits"),
    Case("reaped", [nil], "zombies", .ok, "unknown"),
    Case("path", ["bash", nil], "PATH, bash", .warning, "did not say"),
    Case("path", ["bash", "/opt/a:/usr/bin:/b"], "PATH, bash", .warning, "has /opt/a:/b; jobs"),
    Case("agent", ["codex", "/o/codex", "interactive"], "codex", .failure, "jobs do not find it"),
    Case("version", ["claude", "2.1.333 (Claude Code)"], "claude", .warning, "not a version that"),
    Case("version", ["claude", nil], "claude", .warning, "did not say"),
    Case("credentials", ["other", "x"], "claude login", .ok, "not tried"),
  ]

  @Test(arguments: cases)
  func aFactMakesItsFinding(_ one: Case) {
    let findings = Self.findings(Self.facts(with: (one.key, one.values)))
    let found = findings.filter { $0.subject == one.subject }
    #expect(
      found.contains { $0.verdict == one.verdict && $0.what.contains(one.words) }, "\(found)")
    // Whatever is wrong, there is something to do.
    for finding in findings where finding.verdict != .ok { #expect(finding.remedy != nil) }
  }

  @Test func whatWasNotToldIsUnknownAndNotGuessed() {
    for finding in Self.findings(HostFacts()) {
      let isKnown = ["startup files", "claude", "codex"].contains(finding.subject)
      #expect(
        finding.verdict == .ok && (isKnown || finding.what.hasPrefix("unknown")), "\(finding)")
    }
  }

  @Test(arguments: [
    (0, Finding.Verdict.ok, "as here"), (-2, .ok, "as here"), (3, .ok, "3 s ahead of"),
    (-31, .warning, "31 s behind"),
  ])
  func aClockThatIsWrongIsTold(_ seconds: Int64, _ verdict: Finding.Verdict, _ words: String) {
    var facts = HostFacts()
    facts.clockDifference = seconds
    let clock = facts.machineFindings.first { $0.subject == "clock" }
    #expect(clock?.verdict == verdict && clock?.what.contains(words) == true, "\(clock as Any)")
  }

  @Test func anAgentWithoutASignOfALoginIsToldWhatToDo() {
    var facts = HostFacts()
    facts.note("agent", ["codex", "/usr/bin/codex", "login"])
    facts.note("version", ["codex", "codex-cli 0.163.0"])
    let findings = facts.agentFindings(AgentCatalog.all)
    #expect(findings.contains { $0.subject == "codex" && $0.verdict == .ok })
    let login = findings.first { $0.subject == "codex login" }
    #expect(login?.verdict == .warning && login?.what.contains("~/.codex/auth.json") == true)
    #expect(login?.remedy?.contains("--env CODEX_API_KEY") == true)
  }

  @Test(arguments: [
    (ChannelCount(open: 12, isLimit: false), Finding.Verdict.ok, "at least 12"),
    (ChannelCount(open: 3, isLimit: true), .ok, "3 on one connection"),
    (ChannelCount(open: 1, isLimit: true), .warning, "1 on one connection"),
  ])
  func channels(_ count: ChannelCount, _ verdict: Finding.Verdict, _ words: String) {
    #expect(count.finding.verdict == verdict && count.finding.what.hasPrefix(words))
  }

  @Test func aConnectionOfWhichLittleIsKnownSaysSo() {
    let findings = ConnectionDescription(engine: "OpenSSH_9.2p1").findings
    #expect(findings.allSatisfy { $0.verdict == .ok && $0.what.contains("unknown") }, "\(findings)")
    var open = ConnectionDescription(engine: "libssh2 1.10.0")
    (open.user, open.authentication) = ("me", [])
    #expect(open.findings.contains { $0.verdict == .warning && $0.what.contains("nothing") })
  }

  @Test func librariesAreJudgedByTheirVersions() {
    func sqlite(_ bug: Bool) -> Finding {
      LocalFindings.sqlite(version: "3.40.1", hasWALResetBug: bug)
    }
    #expect(sqlite(true).what.contains("WAL-reset") && !sqlite(false).what.contains("WAL-reset"))
    let later = LocalFindings.libssh2(version: "1.12.0", isTested: false, faults: [])
    #expect(later.verdict == .warning && later.remedy != nil)
    #expect(LocalFindings.ssh(name: nil).verdict == .warning)
  }

  @Test func aStoreIsJudgedByItsHealth() {
    func store(_ faults: [String] = [], free: Int64? = 1 << 40) -> [Finding] {
      LocalFindings.store(
        StoreHealth(path: "/s/pocket.db", bytes: 1536, jobs: 1, faults: faults, freeBytes: free))
    }
    #expect(store().map(\.verdict) == [.ok, .ok])
    #expect(store()[0].what.hasPrefix("/s/pocket.db, 1.5 KiB, 1 job,"))
    #expect(store(["row 1 missing"]).map(\.verdict) == [.failure])
    #expect(store(free: 1 << 20).map(\.verdict) == [.ok, .failure])
    #expect(store(free: 1 << 29).map(\.verdict) == [.ok, .warning])
    #expect(store(free: nil)[1].what.hasPrefix("unknown"))
  }

  @Test(arguments: [
    ("", ""), ("one\r\n\ntwo\n", "one | two"), ("\u{1B}[1;31mred\u{1B}[0m\u{7}", "red"),
    ("cut \u{1B}[3", "cut "), ("\u{1B}", ""), (String(repeating: "é", count: 200), nil),
  ])
  func whatStartupFilesPrintIsShownInOneLine(_ noise: String, _ shown: String?) {
    let text = Array(noise.utf8).shownInOneLine
    #expect(text == shown ?? String(repeating: "é", count: 119) + "…")
  }

  @Test(arguments: [
    (Int64(0), "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (10_300, "10 KiB"),
    (3 << 30, "3 GiB"), (5 << 42, "20 TiB"), (1 << 53, "8192 TiB"),
  ])
  func bytesAreShownInUnits(_ bytes: Int64, _ text: String) { #expect(byteCount(bytes) == text) }
}
