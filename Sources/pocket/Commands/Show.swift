import JobModel
import JobStore
import PocketKit

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Command {
  static let show = Command(
    "show", summary: "Show all that is known of a job.",
    examples: [
      Example("pocket show @", "the newest job, as the store knows it"),
      Example("pocket show nightly --refresh", "after a look at its host"),
    ],
    positionals: [Positional("job", .one, .job)],
    options: [Keys.refresh.spec, Keys.sshConfig.spec, Keys.transport.spec, Keys.json.spec],
    notes: ["How to name a job: pocket\u{A0}help\u{A0}jobs"]
  ) { invocation, context in
    let client = try await context.client(invocation)
    var job = try await client.store.resolve(invocation.positionals[0].shown)
    let isWanted = try await !client.store.intents(of: job.id).isEmpty
    if invocation[Keys.refresh], !job.proved || isWanted {
      try await context.console.show(status: "asking \(job.host)…")
      _ = try await client.inspect(job.id)
      try await context.console.show(status: nil)
      job = try await client.store.job(job.id) ?? job
    }
    let record = try await JobRecord(job, in: client.store)
    if invocation[Keys.json] {
      try await context.console.write(JSONLine.bytes(of: record))
      return .success
    }
    let style = context.console.style
    try await context.console.print(style.bold(job.label))
    for (name, value) in try await context.facts(of: record, in: client.store) {
      try await context.console.print("  \(style.dim(padded(name, to: 9)))\(printable(value))")
    }
    return .success
  }
}

extension CommandContext {
  fileprivate func facts(
    of record: JobRecord, in store: JobStore
  ) async throws -> [(String, String)] {
    let job = record.job
    var facts = [("what", job.title), ("host", job.host)]
    facts += stateFacts(of: record)
    facts.append(("made", localTime(job.createdAt)))
    if let contact = try await store.contacts().first(where: { $0.host == job.host }) {
      facts.append(("reached", "\(age(now() - contact.at)) ago by \(contact.engine)"))
    }
    if let directory = job.request.workingDirectory {
      facts.append(("in", String(decoding: directory, as: UTF8.self)))
    }
    let limits = LimitWords(job)
    if let given = limits.given { facts.append(("limits", given)) }
    if let cut = limits.cut { facts.append(("", cut)) }
    if let exit = job.exit {
      let lasted = age(exit.endedAt - exit.startedAt)
      facts.append(("ran", "\(localTime(exit.startedAt)) to \(localTime(exit.endedAt)), \(lasted)"))
    }
    for stream in JobStream.allCases {
      guard let position = record.committed[stream] else { continue }
      var text = "\(size(position.offset.rawValue)) stored"
      if let whole = job.exit?.size(of: stream), whole != position.offset {
        text += " of \(size(whole.rawValue))"
      }
      let late = stream == .out ? job.lateOut : job.lateErr
      let taken = stream == .out ? job.lateOutTaken : job.lateErrTaken
      if late > 0 {
        text += ", \(size(late)) came after the end, "
        text +=
          taken == 0 ? "none taken in" : taken < late ? "\(size(taken)) taken in" : "all taken in"
      }
      facts.append((stream.rawValue, text))
      for generation in try await store.generations(of: job.id, stream) {
        guard let reason = generation.ended, let end = generation.endedAt else { continue }
        facts.append(("", "gap: the file was \(reason.rawValue) at byte \(end)"))
      }
    }
    if let agent = job.request.agent {
      facts.append(("agent", agent + (job.outcome.map { ", said \($0)" } ?? "")))
      if let session = job.agentSession { facts.append(("session", session)) }
    }
    if let group = job.pgid { facts.append(("group", "\(group) on \(job.host)")) }
    if !job.leftovers.isEmpty {
      for (index, process) in job.leftovers.enumerated() {
        facts.append((index == 0 ? "alive" : "", process.label))
      }
    }
    return facts
  }

  /// The state, what it rests on, and what to do about it.
  private func stateFacts(of record: JobRecord) -> [(String, String)] {
    let job = record.job
    var state = "\(StateWords(job).sentence), seen \(age(now() - job.stateAt)) ago"
    if case .unreachable(let since, _) = job.state {
      state = "\(StateWords(job).sentence), since \(localTime(since)), \(age(now() - since)) ago"
    }
    var facts = [("state", state)]
    if let silence = job.silentSince {
      facts.append(("silent", "since \(localTime(silence)), \(age(now() - silence))"))
    }
    if let evidence = job.evidence, let seen = job.evidenceAt {
      let known = evidence.description.split(separator: " ")
        .filter { !$0.hasSuffix("=unknown") && !$0.hasSuffix("=-") }.joined(separator: " ")
      facts.append(("evidence", "\(known), seen \(age(now() - seen)) ago"))
    }
    if let step = NextStep(for: job, cancelWantedAt: record.cancelWantedAt, now: now()) {
      facts.append(("next", step.words))
    }
    return facts
  }
}

/// A moment (seconds since 1970) by the clock on the user's wall.
private func localTime(_ seconds: Int64) -> String {
  var moment = time_t(seconds)
  var parts = tm()
  guard localtime_r(&moment, &parts) != nil else { return "\(seconds) s since 1970" }
  var text = [UInt8](repeating: 0, count: 64)
  let count = text.withUnsafeMutableBytes { buffer in
    strftime(
      buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count, "%Y-%m-%d %H:%M:%S",
      &parts)
  }
  return String(decoding: text[..<count], as: UTF8.self)
}
