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
    .cancelled(nil), .cancelled(cancelledRecord), .lost(.rebooted), .lost(.containerRestarted),
    .lost(.killed), .lost(.outOfMemory), .lost(.loggedOut), .lost(.diskFull), .lost(.startDamaged),
    .lost(.removed), .lost(.directoryGone), .lost(.outputCut), .elsewhere(machine: "node two"),
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

  @Test func theWordOfAnEarlierVersionIsStillRead() {
    #expect(JobState("lost supervisorGone") == .lost(.killed))
    let away = "unreachable 5 lost supervisorGone"
    #expect(JobState(away) == .unreachable(since: 5, lastKnown: .lost(.killed)))
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
      firstProcess: .same, leader: .alive, supervisor: .alive)
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
    #expect(derived { $0.firstProcess = .other } == .lost(.containerRestarted))
    #expect(
      derived {
        $0.boot = .other
        $0.firstProcess = .other
      } == .lost(.rebooted))
    #expect(
      derived {
        $0.boot = .unknown
        $0.firstProcess = .other
      } == .lost(.rebooted))
  }

  /// What hidepid, a container or a BSD does not show is no mismatch.
  @Test func whatIsUnknownIsNoMismatch() {
    #expect(derived { $0.machine = .unknown } == .running)
    #expect(derived { $0.boot = .unknown } == .running)
    #expect(derived { $0.firstProcess = .unknown } == .running)
    #expect(
      derived {
        ($0.machine, $0.boot, $0.firstProcess) = (.unknown, .unknown, .unknown)
        ($0.leader, $0.supervisor) = (.unknown, .unknown)
      } == .running)
  }

  @Test func aStartThatIsDamagedIsNeitherRunningNorNeverStarted() {
    #expect(derived { $0.start = .damaged } == .lost(.startDamaged))
    #expect(
      derived {
        $0.start = .damaged
        $0.exit = Self.record
      } == .finished(.code(3)))
  }

  /// Of what took leader and supervisor without a record, the host's own words decide.
  @Test func aCauseIsNamedOnlyWhereTheHostTellsIt() {
    typealias Causes = (Evidence.Memory, Evidence.Logout, Evidence.Disk)
    let expected: [(Causes, LostReason)] = [
      ((.unknown, .unknown, .unknown), .killed), ((.none, .none, .free), .killed),
      ((.killed, .unknown, .unknown), .outOfMemory), ((.counted, .none, .full), .outOfMemory),
      ((.killed, .killed, .full), .outOfMemory), ((.none, .killed, .full), .loggedOut),
      ((.unknown, .killed, .unknown), .loggedOut), ((.none, .none, .full), .diskFull),
    ]
    for ((memory, logout, disk), reason) in expected {
      let found = derived {
        ($0.leader, $0.supervisor) = (.gone, .gone)
        ($0.memory, $0.logout, $0.disk) = (memory, logout, disk)
      }
      #expect(found == .lost(reason), "memory \(memory), logout \(logout), disk \(disk)")
    }
    // Where one of the two lives, nothing has ended for want of memory or room.
    #expect(
      derived {
        $0.leader = .gone
        ($0.memory, $0.logout, $0.disk) = (.counted, .killed, .full)
      } == .running)
  }

  @Test func aCauseThatWasSeenOnceStays() {
    let gone = evidence { ($0.leader, $0.supervisor) = (.gone, .gone) }
    for reason in [LostReason.outOfMemory, .loggedOut, .diskFull] {
      #expect(JobState.lost(reason).next(given: gone) == .lost(reason))
    }
    let killed = evidence {
      ($0.leader, $0.supervisor) = (.gone, .gone)
      $0.memory = .killed
    }
    #expect(JobState.lost(.killed).next(given: killed) == .lost(.outOfMemory))
    #expect(JobState.lost(.diskFull).next(given: evidence { $0.boot = .other }) == .lost(.rebooted))
  }

  @Test func processesDecideTheRest() {
    typealias Presence = Evidence.Presence
    let expected: [(Presence, Presence, JobState)] = [
      (.alive, .gone, .running), (.alive, .alive, .running), (.zombie, .alive, .running),
      (.gone, .alive, .running), (.stranger, .alive, .running), (.unknown, .gone, .running),
      (.gone, .unknown, .running), (.unknown, .unknown, .running),
      (.gone, .gone, .lost(.killed)), (.zombie, .gone, .lost(.killed)),
      (.stranger, .gone, .lost(.killed)), (.gone, .zombie, .lost(.killed)),
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
