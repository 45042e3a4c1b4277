import JobModel
import Testing

@Suite struct ExitRecordTests {
  private static let text =
    "v=1 how=signal status=9 out=12 err=3 started=100 ended=160 cancel=no"

  @Test(arguments: [
    "", " disk=full", " oom=counted", " disk=full oom=counted", " limit=timeout",
    " limit=output capped=out,err disk=full", " capped=err",
  ])
  func theTextBringsTheRecordBack(notes: String) throws {
    let record = try #require(ExitRecord(Self.text + notes + " end"))
    #expect(record.description == Self.text + notes + " end")
    #expect(record.diskWasFull == notes.contains("disk"))
    #expect(record.memoryWasShort == notes.contains("oom"))
    #expect((record.limit == .timeout) == notes.contains("timeout"))
    #expect((record.limit == .output) == notes.contains("output"))
    #expect(record.cappedStreams.contains(.out) == notes.contains("capped=out"))
    #expect(record.cappedStreams.contains(.err) == notes.contains("err"))
  }

  @Test func whatANewerSupervisorNotesIsPassedOver() throws {
    let record = try #require(ExitRecord(Self.text + " moon=full disk=free end"))
    #expect(record.description == Self.text + " end")
  }

  @Test(arguments: [
    "", text, text + " end x", String(text.dropLast(3)) + " end", text + " disk end",
    String(repeating: "\0", count: 255), "v=2" + text.dropFirst(3) + " end",
  ])
  func whatIsNotWholeIsNoRecord(text: String) { #expect(ExitRecord(text) == nil) }

  /// The supervisor overwrites a file of 256 bytes, the last of which is a line end.
  @Test func theLongestRecordFitsItsFile() throws {
    let most = ByteOffset(.max)
    let record = ExitRecord(
      status: .unknown(255), outSize: most, errSize: most, startedAt: .max, endedAt: .max,
      cancelRequested: true, diskWasFull: true, memoryWasShort: true,
      limit: .timeout, cappedStreams: [.out, .err])
    #expect(record.description.utf8.count <= 255 - 40, "the rest is for keys to come")
  }
}
