import JobModel
import Testing

@Suite struct JobStateTests {
  private static let record = ExitRecord(
    status: .code(3), outSize: ByteOffset(10), errSize: .zero, startedAt: 1, endedAt: 2,
    cancelRequested: false)
  private static let cancelledRecord = ExitRecord(
    status: .signal(15), outSize: .zero, errSize: .zero, startedAt: 1, endedAt: 2,
    cancelRequested: true)

  static let all: [JobState] = [
    .launching, .running, .finished(.code(0)), .finished(.signal(9)), .finished(.unknown(137)),
    .cancelled(nil), .cancelled(cancelledRecord), .lost(.rebooted), .lost(.supervisorGone),
    .lost(.removed), .lost(.directoryGone), .elsewhere(machine: "node two"),
    .unreachable(since: 1_764_486_000, lastKnown: .running),
    .unreachable(since: 5, lastKnown: .cancelled(cancelledRecord)),
    .unreachable(since: 5, lastKnown: .elsewhere(machine: "a b c")), .neverStarted(.removed),
    .neverStarted(.refused(.cwd, words: "no such folder: /a b\nline two")),
    .neverStarted(.refused(nil, words: "")), .neverStarted(.notLaunched("disk full: 100%")),
  ]

  @Test(arguments: all)
  func theTextBringsTheStateBack(state: JobState) {
    #expect(JobState(state.description) == state)
  }

  @Test(arguments: [
    "", "running ", "Running", "finished", "finished code", "finished code -1",
    "finished code 256", "finished exit 0", "cancelled v=1", "lost", "lost keys", "unreachable",
    "unreachable x running", "unreachable 5", "neverStarted", "neverStarted refused bored x",
  ])
  func otherTextIsNoState(text: String) { #expect(JobState(text) == nil) }

  /// A started job on its machine, everything alive.
  private func evidence(_ edit: (inout Evidence) -> Void = { _ in }) -> Evidence {
    var evidence = Evidence(
      directory: .present, start: .claimed, machine: .same, hostName: "dev1", boot: .same,
      leader: .alive, supervisor: .alive)
    edit(&evidence)
    return evidence
  }

  private func derived(_ edit: (inout Evidence) -> Void) -> JobState {
    JobState.derived(from: evidence(edit))
  }

  @Test func theRecordDecidesBeforeAllElse() {
    #expect(derived { $0.exit = Self.record } == .finished(.code(3)))
    #expect(derived { $0.exit = Self.cancelledRecord } == .cancelled(Self.cancelledRecord))
    #expect(
      derived {
        $0.exit = Self.record
        $0.machine = .other
        $0.boot = .other
        $0.leader = .alive
        // Linked after the record was written: the job was not cancelled.
        $0.cancelRequested = true
      } == .finished(.code(3)))
  }

  @Test func whatNeverRanSaysWhy() {
    #expect(
      derived { $0.start = .refused(.program, words: "w") }
        == .neverStarted(.refused(.program, words: "w")))
    #expect(derived { $0.start = .cancelled } == .cancelled(nil))
    #expect(derived { $0.start = .none } == .launching)
    #expect(derived { $0.directory = .absent } == .launching)
    #expect(
      derived {
        $0.directory = .removed
        $0.start = .none
      } == .neverStarted(.removed))
  }

  @Test func anotherMachineOrBootIsToldApart() {
    #expect(derived { $0.machine = .other } == .elsewhere(machine: "dev1"))
    #expect(derived { $0.boot = .other } == .lost(.rebooted))
    #expect(derived { $0.machine = .unknown } == .running)
    #expect(derived { $0.boot = .unknown } == .running)
  }

  @Test func processesDecideTheRest() {
    typealias Presence = Evidence.Presence
    let expected: [(Presence, Presence, JobState)] = [
      (.alive, .gone, .running), (.alive, .alive, .running), (.zombie, .alive, .running),
      (.gone, .alive, .running), (.stranger, .alive, .running), (.unknown, .gone, .running),
      (.gone, .unknown, .running), (.unknown, .unknown, .running),
      (.gone, .gone, .lost(.supervisorGone)), (.zombie, .gone, .lost(.supervisorGone)),
      (.stranger, .gone, .lost(.supervisorGone)), (.gone, .zombie, .lost(.supervisorGone)),
    ]
    for (leader, supervisor, state) in expected {
      let found = derived {
        $0.leader = leader
        $0.supervisor = supervisor
      }
      #expect(found == state, "leader \(leader), supervisor \(supervisor)")
    }
  }

  @Test func nothingGoesBackToLaunchingAndARecordStays() {
    for state in Self.all where state.known != .launching {
      #expect(!state.canBecome(.launching), "\(state)")
    }
    for end in Self.all {
      switch end {
      case .finished, .cancelled, .neverStarted(.removed), .neverStarted(.notLaunched):
        for next in Self.all where next.known != end {
          #expect(!end.canBecome(next), "\(end) -> \(next)")
        }
      default: break
      }
      #expect(end.canBecome(end))
    }
  }

  @Test func onlyWhatIsNotKnownToHaveRunCanNeverHaveStarted() {
    let never = JobState.neverStarted(.removed)
    #expect(JobState.launching.canBecome(never))
    #expect(JobState.unreachable(since: 1, lastKnown: .launching).canBecome(never))
    for state in [JobState.running, .lost(.rebooted), .elsewhere(machine: "x")] {
      #expect(!state.canBecome(never))
      #expect(!state.canBecome(.cancelled(nil)))
      #expect(state.canBecome(.finished(.code(0))))
    }
  }

  @Test func failingToAskKeepsWhatWasKnown() {
    for state in Self.all {
      #expect(state.canBecome(.unreachable(since: 9, lastKnown: state.known)))
      let other: JobState = state.known == .running ? .launching : .running
      #expect(!state.canBecome(.unreachable(since: 9, lastKnown: other)))
    }
    let away = JobState.unreachable(since: 1, lastKnown: .running)
    #expect(away.canBecome(.running))
    #expect(away.canBecome(.lost(.rebooted)))
    #expect(away.known == .running)
  }

  @Test func aStartedJobThatIsNotThereIsLost() {
    let nothing = Evidence(directory: .absent)
    #expect(JobState.launching.next(given: nothing) == .launching)
    #expect(JobState.running.next(given: nothing) == .lost(.directoryGone))
    #expect(JobState.finished(.code(0)).next(given: nothing) == .finished(.code(0)))
    let removed = Evidence(directory: .removed)
    #expect(JobState.launching.next(given: removed) == .neverStarted(.removed))
    #expect(JobState.running.next(given: removed) == .lost(.removed))
    let away = JobState.unreachable(since: 1, lastKnown: .running)
    #expect(away.next(given: evidence()) == .running)
    #expect(away.next(given: nothing) == .lost(.directoryGone))
  }
}
