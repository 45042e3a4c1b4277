/// The shell scripts of this folder, as the compiler embedded them.
enum ScriptSource {
  /// The text of `<name>.sh`.
  static func named(_ name: String) -> String {
    String(decoding: bytes(name), as: UTF8.self)
  }

  /// Every script that is embedded.
  static let names = [
    "prelude", "processes", "carriers", "cgroups", "records", "causes", "evidence", "staging",
    "signals", "pieces", "launch", "supervise", "watch", "lead", "follow", "cancel", "inspect",
    "list", "adopt", "remove", "asking", "storage", "doctor",
  ]

  private static func bytes(_ name: String) -> [UInt8] {
    switch name {
    case "prelude": PackageResources.prelude_sh
    case "processes": PackageResources.processes_sh
    case "carriers": PackageResources.carriers_sh
    case "cgroups": PackageResources.cgroups_sh
    case "records": PackageResources.records_sh
    case "causes": PackageResources.causes_sh
    case "evidence": PackageResources.evidence_sh
    case "staging": PackageResources.staging_sh
    case "signals": PackageResources.signals_sh
    case "launch": PackageResources.launch_sh
    case "supervise": PackageResources.supervise_sh
    case "watch": PackageResources.watch_sh
    case "lead": PackageResources.lead_sh
    case "follow": PackageResources.follow_sh
    case "cancel": PackageResources.cancel_sh
    case "inspect": PackageResources.inspect_sh
    case "list": PackageResources.list_sh
    case "adopt": PackageResources.adopt_sh
    case "remove": PackageResources.remove_sh
    case "pieces": PackageResources.pieces_sh
    case "asking": PackageResources.asking_sh
    case "storage": PackageResources.storage_sh
    case "doctor": PackageResources.doctor_sh
    default: preconditionFailure("no script is called \(name)")
    }
  }
}
