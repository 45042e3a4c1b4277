import JobModel
import JobStore
import TestSupport
import Testing

@testable import pocket

/// Late output on the screen, from a store that has taken it in before: the host of these worlds never
/// answers.
@Suite struct LateCommandTests {
  let world: World

  init() throws { world = try World() }

  private func addJob() async throws -> Job {
    let job = try await world.add("aaaaaaaaaaa1", output: [(.out, "main\n")], end: .code(7))
    let store = try await world.store()
    try await store.setLateBytes(out: 9, err: 3, for: job.id)
    let late = Array("laté\n".utf8)
    #expect(try await store.commitLate(late, to: job.id, .out, at: ByteOffset(5)))
    #expect(try await !store.commitLate(late, to: job.id, .out, at: ByteOffset(5)))
    #expect(try await store.commitLate([0x21, 0x0A], to: job.id, .err, at: .zero))
    return job
  }

  @Test func itIsPrintedAfterTheOutputAndMarked() async throws {
    _ = try await addJob()
    let outcome = await world.run("resume", "--late", "@")
    #expect(outcome.output == "main\nlaté\n")
    #expect(
      outcome.errors.hasPrefix(
        "pocket: out: 6 bytes that came after the end\n"
          + "pocket: err: 2 bytes that came after the end\n!\n"), "\(outcome.errors)")
    // That nothing more could be asked for is an error all the same.
    #expect(outcome.code == 255 && outcome.errors.contains("no such test host"))
    let plain = await world.run("resume", "@")
    #expect(plain.output == "main\n" && plain.code == 7)
  }

  @Test func asJSONItIsARecordOfItsOwn() async throws {
    _ = try await addJob()
    let output = await world.run("resume", "--late", "--json", "@").output
    #expect(
      output == """
        main
        {"late":{"base64":"bGF0w6kK","id":"aaaaaaaaaaa1","offset":5,"stream":"out"}}
        {"late":{"base64":"IQo=","id":"aaaaaaaaaaa1","offset":0,"stream":"err"}}

        """)
  }

  @Test func showCountsWhatCameAndWhatWasTakenIn() async throws {
    _ = try await addJob()
    let shown = await world.run("show", "@").output
    #expect(shown.contains("5 B stored, 9 B came after the end, 6 B taken in"), "\(shown)")
    #expect(
      shown.contains("next     take in what came after its end: pocket resume --late"), "\(shown)")
    let json = await world.run("show", "@", "--json").output
    #expect(
      json.contains(#""lateErrBytes":3,"lateErrTaken":2,"lateOutBytes":9,"lateOutTaken":6"#),
      "\(json)")
  }
}
