import JobModel
import JobStore
import TestSupport
import Testing

@testable import pocket

/// What `ls`, `show` and bare `pocket` say of every state: the same words.
@Suite struct StateWordsTests {
  let world: World

  init() throws { world = try World() }

  private static let record = ExitRecord(
    status: .code(5), outSize: .zero, errSize: .zero, startedAt: 1, endedAt: 2,
    cancelRequested: false, diskWasFull: true)

  private static let words: [(JobState, String)] = [
    (.launching, "launching"), (.running, "running"), (.finished(.code(0)), "finished, exit 0"),
    (.finished(.signal(9)), "finished, signal 9 (KILL)"),
    (.finished(.unknown(137)), "finished, exit 137 or signal 9"),
    (.cancelled(nil), "cancelled"), (.cancelled(record), "cancelled, disk full"),
    (.lost(.rebooted), "lost (host rebooted)"),
    (.lost(.containerRestarted), "lost (container restarted)"),
    (.lost(.killed), "lost (killed without a record)"),
    (.lost(.outOfMemory), "lost (out of memory)"), (.lost(.loggedOut), "lost (logged out)"),
    (.lost(.diskFull), "lost (disk full)"), (.lost(.startDamaged), "lost (start record damaged)"),
    (.lost(.removed), "lost (removed)"), (.lost(.directoryGone), "lost (directory gone)"),
    (.lost(.outputCut), "lost (output cut)"),
    (.elsewhere(machine: "node\u{1B}7"), "elsewhere (node␛7)"),
    (.unreachable(since: 5, lastKnown: .running), "unreachable (running)"),
    (.neverStarted(.removed), "never started"),
    (.neverStarted(.refused(.program, words: "w")), "never started"),
  ]

  @Test(arguments: words.indices)
  func listAndShowSayTheSame(index: Int) async throws {
    let (state, expected) = Self.words[index]
    let request = JobRequest(arguments: [Array("true".utf8)])
    let job = Job(
      id: try #require(JobID("aaaaaaaaaaa1")), host: "dev1", request: request,
      createdAt: World.now - 60)
    let store = try await world.store()
    try await store.insert(job)
    if case .unreachable(_, let last) = state {
      try await store.record(last, at: World.now - 50, for: job.id)
    }
    #expect(try await store.record(state, at: World.now - 30, for: job.id) || state == .launching)
    #expect(await world.run("ls").output.contains("aaaaaaaaaaa1  \(expected)  "))
    let shown = await world.run("show", "@").output
    #expect(shown.contains("  state    \(expected)"), "\(shown)")
  }

  @Test func aFullDiskIsSaidBesideTheCode() async throws {
    let job = try await world.add("aaaaaaaaaaa1")
    #expect(try await world.store().finish(job.id, Self.record, at: World.now - 5))
    #expect(await world.run("ls").output.contains("finished, exit 5, disk full  "))
    #expect(
      await world.run("show", "@").output.contains("state    finished, exit 5, disk full, seen"))
    let json = await world.run("show", "@", "--json").output
    #expect(json.contains(#""code":5"#))
  }

  @Test func showSaysSinceWhenAJobIsSilentWhatIsKnownAndWhatToDo() async throws {
    let job = try await world.add("aaaaaaaaaaa1", name: "nightly")
    let evidence = Evidence(
      directory: .present, start: .claimed, machine: .same, hostName: "node7", boot: .same,
      firstProcess: .same, leader: .alive, supervisor: .alive, groupMembers: 2, quietSeconds: 600)
    let store = try await world.store()
    try await store.record(.running, evidence: evidence, at: World.now - 20, for: job.id)
    let shown = await world.run("show", "nightly").output
    #expect(shown.contains("\n  silent   since ") && shown.contains(", 10 min\n"), "\(shown)")
    #expect(
      shown.contains(
        "evidence directory=present start=claimed machine=same host=node7 boot=same init=same"
          + " leader=alive supervisor=alive group=2 cancel=no quiet=600, seen 20 s ago"), "\(shown)"
    )
    #expect(shown.contains("next     follow it: pocket resume nightly"), "\(shown)")
    let json = await world.run("show", "nightly", "--json").output
    for part in [
      #""evidence":{"boot":"same","cancel":false,"directory":"present","disk":"unknown","exit":null"#,
      #""evidenceAt":\#(World.now - 20)"#, #""silentSince":\#(World.now - 620)"#,
    ] { #expect(json.contains(part), "\(json)") }
  }

  @Test func anUnreachableJobKeepsWhatWasKnown() async throws {
    let job = try await world.add("aaaaaaaaaaa1")
    let store = try await world.store()
    let since = World.now - 300
    try await store.record(
      .unreachable(since: since, lastKnown: .running), at: since, for: job.id)
    let shown = await world.run("show", "@").output
    #expect(shown.contains("unreachable (running): the host does not answer"), "\(shown)")
    #expect(shown.contains(", 5 min ago\n") && shown.contains("next     try again"), "\(shown)")
    let json = await world.run("show", "@", "--json").output
    #expect(json.contains(#""detail":"unreachable \#(since) running""#), "\(json)")
  }

  /// Every state has a word about what to do, or needs none.
  @Test func onlyWhatEndedAsItShouldNeedsNoNextStep() async throws {
    var job = try await world.add("aaaaaaaaaaa1", name: "x")
    for (state, _) in Self.words {
      job.state = state
      job.proved = state.isEnded
      let step = NextStep(for: job, cancelWantedAt: nil, now: World.now)
      switch state {
      case .finished, .cancelled: #expect(step == nil, "\(state)")
      default: #expect(step != nil, "\(state)")
      }
      #expect(NextStep(for: job, cancelWantedAt: 5, now: World.now)?.occasion == .untilDone)
    }
  }
}
