import JobModel
import JobStore
import SSHClient

extension Command {
  static let hosts = Command(
    "hosts", summary: "List the hosts of your ssh_config, and what is known of each.",
    examples: [
      Example("pocket hosts", "as the store knows them; no host is asked"),
      Example("pocket hosts --json | jq -r .host", "for scripts"),
    ],
    options: [Keys.sshConfig.spec, Keys.json.spec],
    notes: [
      "A host that you named in another way is listed as soon as a job was there. CONTACT is when it was last connected to, ENGINE what carried that connection."
    ]
  ) { invocation, context in
    let hosts = try await context.hosts(
      sshConfig: try context.settings(
        Settings.Flags(sshConfig: try context.text(invocation[Keys.sshConfig]))
      ).sshConfig)
    let console = context.console
    if invocation[Keys.json] {
      for host in hosts { try await console.write(JSONLine.bytes(of: host)) }
      return .success
    }
    if hosts.isEmpty {
      try await console.say(
        "no host is known: your ssh_config names none; pocket run -H user@name works all the same")
      return .success
    }
    let header = ["HOST", "CONTACT", "RUNNING", "ENGINE"]
    let rows = hosts.map { $0.cells(now: context.now()) }
    let table = TextTable([header] + rows, width: console.facts.tableWidth)
    try await console.print(console.style.dim(table.line(header)))
    for row in rows { try await console.print(table.line(row)) }
    return .success
  }
}

extension CommandContext {
  /// The aliases of the configuration, and the other hosts that the store knows, in that order.
  fileprivate func hosts(sshConfig: String?) async throws -> [HostRecord] {
    var names = try await HostAliases.read(configurationFile: sshConfig)
    let aliases = Set(names)
    let store = try await openStoreIfPresent()
    let jobs = try await store?.jobs() ?? []
    let contacts = try await store?.contacts() ?? []
    var seen = aliases
    names += (contacts.map(\.host) + jobs.map(\.host)).filter { seen.insert($0).inserted }
    return names.map { name in
      HostRecord(
        host: name, isAlias: aliases.contains(name),
        contact: contacts.first { $0.host == name },
        running: jobs.filter { $0.host == name && !$0.state.isEnded }.map(\.id.description))
    }
  }
}

/// A host as `--json` shows it. Keys are only ever added; what is not known is null.
private struct HostRecord: Encodable {
  let host: String
  /// Whether the ssh configuration names it.
  let isAlias: Bool
  let contact: HostContact?
  /// The ids of the jobs that have not ended there, as far as is known.
  let running: [String]

  func cells(now: Int64) -> [String] {
    [
      printable(host), contact.map { age(now - $0.at) + " ago" } ?? "never",
      running.isEmpty ? "-" : String(running.count), contact?.engine ?? "-",
    ]
  }

  private enum Key: String, CodingKey { case host, alias, contactAt, engine, running }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(host, forKey: .host)
    try object.encode(isAlias, forKey: .alias)
    try object.encode(contact?.at, forKey: .contactAt)
    try object.encode(contact?.engine, forKey: .engine)
    try object.encode(running, forKey: .running)
  }
}
