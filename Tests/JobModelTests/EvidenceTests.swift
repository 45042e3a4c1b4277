import JobModel
import Testing

@Suite struct EvidenceTests {
  static let full = Evidence(
    directory: .present, start: .claimed, machine: .same, hostName: "dev1", boot: .same,
    firstProcess: .other, leader: .stranger, supervisor: .gone, groupMembers: 2,
    cancelRequested: true, quietSeconds: 75, disk: .full, memory: .counted, logout: .killed)

  /// The text is what the host says and what the store keeps.
  @Test func theTextBringsTheEvidenceBack() {
    #expect(
      Self.full.description
        == "directory=present start=claimed machine=same host=dev1 boot=same init=other"
        + " leader=stranger supervisor=gone group=2 cancel=yes quiet=75 disk=full oom=counted"
        + " logout=killed")
    let nothing = Evidence(directory: .absent)
    for evidence in [Self.full, nothing, Evidence(directory: .removed, start: .damaged)] {
      #expect(Evidence(evidence.description) == evidence)
    }
  }

  @Test func aKeyThatIsMissingOrNotKnownIsUnknown() {
    let old =
      "directory=present start=claimed machine=same host=- boot=same leader=alive"
      + " supervisor=alive group=unknown cancel=no"
    let expected = Evidence(
      directory: .present, start: .claimed, machine: .same, boot: .same, leader: .alive,
      supervisor: .alive)
    #expect(Evidence(old) == expected)
    #expect(
      Evidence(old + " init=purple quiet=soon disk=? oom=maybe logout= moon=full") == expected)
  }

  @Test(arguments: [
    "", "directory=present", "directory", full.description + " quiet",
    full.description.replacing("cancel=yes", with: "cancel=perhaps"),
    full.description.replacing("quiet=75", with: "quiet=-1"),
    full.description.replacing("leader=stranger", with: "leader=asleep"),
  ])
  func otherTextIsNoEvidence(text: String) { #expect(Evidence(text) == nil) }
}
