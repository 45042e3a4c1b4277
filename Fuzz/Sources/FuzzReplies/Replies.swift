import JobModel

/// All that a parser makes of chunks.
private struct Outcome: Equatable {
  var replies: [Reply] = []
  var error: ReplyError?
  var noise: [UInt8] = []

  init(_ chunks: [ArraySlice<UInt8>]) {
    var parser = ReplyParser(nonce: "n")
    do throws(ReplyError) {
      for chunk in chunks { replies += try parser.consume(Array(chunk)) }
      try parser.finish()
    } catch {
      self.error = error
    }
    noise = parser.noise
  }
}

/// The first byte says how the rest is cut, and whether the reply has begun already; the cut must
/// not matter.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let first = input.first else { return 0 }
  let bytes = (first & 128 == 0 ? [] : Array("n begin x 1\n".utf8)) + input[1...]
  let whole = Outcome([bytes[...]])
  for case .frame(let frame) in whole.replies {
    precondition((1...ReplyParser.frameLimit).contains(frame.bytes.count), "a frame's size")
    precondition(frame.offset >= .zero && frame.generation >= 0, "a negative number")
  }
  precondition(whole.noise.count <= ReplyParser.noiseLimit, "too much noise is kept")
  var chunks: [ArraySlice<UInt8>] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    chunks.append(rest.prefix(1 + Int(first & 127) % 23))
    rest = rest.dropFirst(1 + Int(first & 127) % 23)
  }
  precondition(Outcome(chunks) == whole, "the cut matters")
  return 0
}
