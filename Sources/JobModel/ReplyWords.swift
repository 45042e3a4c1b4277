/// One line of a reply, taken apart: `<nonce> <word> [<field>...]`, one space between two fields.
struct ReplyWords {
  /// A reply, or a word that a newer script might say and that is passed over.
  enum Outcome { case reply(Reply), unknown }

  let word: String
  private let fields: [String]

  /// Takes the line apart; nil when it is not the script's.
  init?(_ line: [UInt8], nonce: [UInt8]) {
    guard line.count > nonce.count + 1, line.starts(with: nonce), line[nonce.count] == 0x20
    else { return nil }
    let parts = line[(nonce.count + 1)...].split(separator: 0x20, omittingEmptySubsequences: false)
    guard let first = parts.first, !first.isEmpty else { return nil }
    word = String(decoding: first, as: UTF8.self)
    fields = parts.dropFirst().map { String(decoding: $0, as: UTF8.self) }
  }

  /// How many fields there are.
  var count: Int { fields.count }

  /// The reply; nil when the word is known and its fields are not what belongs to it.
  var reply: Outcome? {
    switch word {
    case "begin":
      guard count == 2, let version = small(1) else { return nil }
      return .reply(.begin(verb: fields[0], version: version))
    case "end": return plain(.end)
    case "ready": return plain(.ready)
    case "cancelled": return plain(.cancelled)
    case "removed": return plain(.removed)
    case "request", "prompt", "other": return replyWithBytes.map { .reply($0) }
    case "error", "refused", "noexec": return replyWithText.map { .reply($0) }
    case "started", "step", "process", "beyond", "survivors", "leftover", "job", "exit",
      "evidence":
      return replyOfJob.map { .reply($0) }
    case "stream", "gap", "beat", "short", "late", "size", "digest":
      return replyOfStreams.map { .reply($0) }
    case "fact": return fact.map { .reply($0) }
    case "data", "sent", "nobash": return nil  // Not where a reply may stand.
    default: return .unknown
    }
  }

  private var fact: Reply? {
    guard let key = fields.first, !key.isEmpty else { return nil }
    var values: [String?] = []
    for field in fields.dropFirst() {
      if field == "-" {
        values.append(nil)
      } else if let value = RequestFile.decode(field) {
        values.append(String(decoding: value, as: UTF8.self))
      } else {
        return nil
      }
    }
    return .fact(key, values)
  }

  private func plain(_ reply: Reply) -> Outcome? { count == 0 ? .reply(reply) : nil }

  private var replyWithText: Reply? {
    guard count == 2, let text = bytes(1) else { return nil }
    let words = String(decoding: text, as: UTF8.self)
    switch word {
    case "error": return Reply.ErrorKind(rawValue: fields[0]).map { .error($0, words: words) }
    case "refused": return RefusalReason(rawValue: fields[0]).map { .refused($0, words: words) }
    default:
      guard let code = small(0), code == 126 || code == 127 else { return nil }
      return .noexec(code, words: words)
    }
  }

  private var replyWithBytes: Reply? {
    if word == "other" { return count == 1 ? bytes(0).map { .other(directory: $0) } : nil }
    guard count == 2, let size = number(0), let piece = bytes(1) else { return nil }
    return word == "request" ? .request(size: size, piece) : .prompt(size: size, piece)
  }

  private var replyOfJob: Reply? {
    switch word {
    case "started":
      guard count == 4, ["new", "again"].contains(fields[0]), let pid = process(1),
        let pgid = process(2), !fields[3].isEmpty
      else { return nil }
      return .started(again: fields[0] == "again", pid: pid, pgid: pgid, attempt: fields[3])
    case "step": return count >= 1 ? .step(fields.joined(separator: " ")) : nil
    case "process":
      guard count == 3, let pid = process(0), let command = bytes(2) else { return nil }
      return .process(
        HostProcess(
          pid: pid, group: process(1), command: String(decoding: command, as: UTF8.self)))
    case "beyond": return processes.map { .beyond($0) }
    case "survivors": return processes.map { .survivors($0) }
    case "leftover": return processes.map { .leftover($0) }
    case "job": return count == 1 ? JobID(fields[0]).map { .job($0) } : nil
    case "exit": return ExitRecord(fields.joined(separator: " ")).map { .exit($0) }
    default: return Evidence(fields.joined(separator: " ")).map { .evidence($0) }
    }
  }

  private var replyOfStreams: Reply? {
    switch word {
    case "beat":
      guard count == 4, let out = offset(0), let err = offset(1),
        let leader = Evidence.Presence(rawValue: fields[2]),
        let supervisor = Evidence.Presence(rawValue: fields[3])
      else { return nil }
      return .beat(outSize: out, errSize: err, leader: leader, supervisor: supervisor)
    case "late":
      guard count == 2, let out = number(0), let err = number(1) else { return nil }
      return .late(outBytes: out, errBytes: err)
    default: break
    }
    guard let stream = stream(0) else { return nil }
    switch (word, count) {
    case ("stream", 4):
      guard let generation = small(1), let offset = offset(2) else { return nil }
      return .stream(stream, generation: generation, offset: offset, inode: optional(3))
    case ("gap", 5):
      guard let generation = small(1), let reason = GapReason(rawValue: fields[2]),
        let offset = self.offset(3), let size = size(4)
      else { return nil }
      return .gap(stream, generation: generation, reason: reason, offset: offset, size: size)
    case ("short", 3):
      guard let offset = offset(1), let size = self.offset(2) else { return nil }
      return .short(stream, offset: offset, size: size)
    case ("size", 3): return offset(1).map { .size(stream, bytes: $0, inode: optional(2)) }
    case ("digest", 3):
      guard let bytes = offset(1), fields[2].utf8.count == 64 else { return nil }
      return .digest(stream, bytes: bytes, sha256: fields[2])
    default: return nil
    }
  }

  /// A field that is a stream's name.
  func stream(_ index: Int) -> JobStream? {
    index < count ? JobStream(rawValue: fields[index]) : nil
  }
  /// A field that is a number, of either sign.
  func integer(_ index: Int) -> Int64? { Int64(fields[index]) }
  /// A field that is a number and not negative.
  func number(_ index: Int) -> Int64? { integer(index).flatMap { $0 >= 0 ? $0 : nil } }
  /// A field that is a checksum of cksum(1), or absent; nil when it is neither.
  func checksum(_ index: Int) -> UInt32?? {
    guard index < count else { return nil }
    return fields[index] == "-" ? .some(nil) : UInt32(fields[index]).map { .some($0) }
  }

  private func small(_ index: Int) -> Int? {
    number(index).flatMap { $0 <= Int64(Int32.max) ? Int($0) : nil }
  }
  private func offset(_ index: Int) -> ByteOffset? { number(index).map { ByteOffset($0) } }
  /// The size of a file; one that is not there has none, and no bytes.
  private func size(_ index: Int) -> ByteOffset? { fields[index] == "-" ? .zero : offset(index) }
  private func optional(_ index: Int) -> String? { fields[index] == "-" ? nil : fields[index] }
  private func bytes(_ index: Int) -> [UInt8]? { RequestFile.decode(fields[index]) }
  /// A process id that may be shown or signalled: 0 and 1 never are.
  private func process(_ index: Int) -> Int? { small(index).flatMap { $0 > 1 ? $0 : nil } }
  private var processes: [Int]? {
    let read = fields.indices.compactMap { process($0) }
    return read.count == count ? read : nil
  }
}
