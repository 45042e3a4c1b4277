import JobModel

/// What an assembler makes of chunks; runs of whole lines that touch are joined, since they may be
/// cut between any two lines.
private func runs(_ chunks: [ArraySlice<UInt8>]) -> [LineAssembler.Run] {
  // So small that a few bytes reach them.
  var assembler = LineAssembler(
    position: StreamPosition(offset: ByteOffset(1000)), runLimit: 5, pieceLimit: 17)
  var runs: [LineAssembler.Run] = []
  for chunk in chunks { runs += assembler.append(Array(chunk)) }
  runs += assembler.finish()
  return runs.reduce(into: []) { joined, run in
    if run.kind == .lines, joined.last?.kind == .lines {
      joined[joined.count - 1].bytes += run.bytes
    } else {
      joined.append(run)
    }
  }
}

/// The first byte says how the rest is cut; the cut must not matter, and no byte may be lost.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let first = input.first else { return 0 }
  let bytes = input[1...]
  let whole = runs([bytes])
  precondition(Array(whole.map(\.bytes).joined()) == Array(bytes), "bytes were lost")
  var offset = ByteOffset(1000)
  for run in whole {
    precondition(run.offset == offset, "a gap or an overlap")
    precondition(run.kind != .lines || run.bytes.last == 0x0A, "a line without its end")
    precondition(run.kind == .lines || run.bytes.count <= 17, "a piece that is too long")
    offset = run.end
  }
  var chunks: [ArraySlice<UInt8>] = []
  var rest = bytes
  while !rest.isEmpty {
    chunks.append(rest.prefix(1 + Int(first) % 23))
    rest = rest.dropFirst(1 + Int(first) % 23)
  }
  precondition(runs(chunks) == whole, "the cut matters")
  return 0
}
