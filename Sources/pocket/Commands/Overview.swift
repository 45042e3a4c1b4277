import JobModel
import JobStore

extension Command {
  /// What runs when no command is named.
  static let overview = Command(
    "pocket",
    summary: """
      Runs long jobs on servers you already have, over ssh. The job lives on when the connection does \
      not, and pocket picks its output up again at the exact byte.
      """,
    examples: [
      Example("pocket run -H dev1 -- make test", "run any command on dev1"),
      Example(#"pocket run -H dev1 -a claude "Fix the build""#, "give an agent a prompt"),
      Example("pocket resume @", "follow the newest job again"),
      Example("pocket cancel @", "end it, and prove it"),
      Example("pocket", "what needs you, runs, has ended"),
    ],
    options: [Keys.json.spec, .version],
    tooManyHint: "options come after the command: pocket ls --json"
  ) { invocation, context in
    let store = try await context.openStore()
    let jobs = try await store.jobs()
    let overview = try await Overview(jobs, in: store, now: context.now())
    if invocation[Keys.json] {
      for (section, jobs) in overview.sections {
        for job in jobs {
          let line = SectionLine(
            section: section.rawValue, job: try await JobRecord(job, in: store))
          try await context.console.write(JSONLine.bytes(of: line))
        }
      }
    } else if jobs.isEmpty {
      try await context.console.print(firstSteps)
    } else {
      try await overview.print(in: context, store: store)
    }
    try await store.markLooked(at: context.now())
    return .success
  }
}

extension OptionSpec {
  /// Understood by the parser itself, for the whole program only.
  static let version = OptionSpec(
    long: "version", short: nil, placeholder: nil, repeats: true, completion: .nothing,
    help: "show pocket's version")
}

/// The jobs that bare `pocket` tells of.
private struct Overview {
  enum Section: String, CaseIterable {
    case needsYou, running, ended

    var title: String {
      switch self {
      case .needsYou: "Needs you"
      case .running: "Running"
      case .ended: "Ended since you last looked"
      }
    }
  }

  private(set) var sections: [(Section, [Job])] = []
  /// Jobs whose cancel waits for their host, and since when (seconds since 1970).
  private var waiting: [JobID: Int64] = [:]
  /// When the user last looked, in seconds since 1970.
  private let looked: Int64
  private let now: Int64

  init(_ jobs: [Job], in store: JobStore, now: Int64) async throws {
    self.now = now
    looked = try await store.lastLooked() ?? 0
    for intent in try await store.intents() where intent.kind == .cancel {
      waiting[intent.job] = intent.wantedAt
    }
    var found: [Section: [Job]] = [:]
    for job in jobs {
      if step(for: job) != nil {
        found[.needsYou, default: []].append(job)
      } else if !job.state.isEnded {
        found[.running, default: []].append(job)
      } else if job.stateAt > looked {
        found[.ended, default: []].append(job)
      }
    }
    sections = Section.allCases.compactMap { section in found[section].map { (section, $0) } }
  }

  /// What the user should do about a job, if it is to be brought up.
  private func step(for job: Job) -> NextStep? {
    guard let step = NextStep(for: job, cancelWantedAt: waiting[job.id], now: now) else {
      return nil
    }
    return switch step.occasion {
    case .untilDone: step
    case .news: job.stateAt > looked ? step : nil
    case .asked: nil
    }
  }

  func print(in context: CommandContext, store: JobStore) async throws {
    let style = context.console.style
    if sections.isEmpty {
      try await context.console.print("Nothing runs, and nothing ended since you last looked.")
      try await context.console.print(style.dim("All jobs: pocket ls"))
      return
    }
    for (index, (section, jobs)) in sections.enumerated() {
      if index > 0 { try await context.console.print() }
      try await context.console.print(style.bold(section.title))
      var table = JobTable(style: style, width: context.console.facts.tableWidth)
      for job in jobs {
        let record = try await JobRecord(job, in: store)
        table.add(record, now: context.now(), note: step(for: job)?.words)
      }
      for line in table.lines(withHeader: false) { try await context.console.print(line) }
    }
  }
}

/// A job and the section it is shown in.
private struct SectionLine: Encodable {
  let section: String
  let job: JobRecord
}

private let firstSteps = """
  No job yet. Three first steps:

    pocket run -H dev1 -- uname -a      run something on a host your ssh knows as dev1
    pocket run -H dev1 -d -- sleep 60   start something and do not wait for it
    pocket resume @                     follow the newest job; Ctrl-C lets go, the job lives on

  To spare yourself the -H:   export POCKET_HOST=dev1
  To know more:               pocket --help
  """
