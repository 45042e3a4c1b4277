/// What the server said, as seen in the packets that libssh2 has dealt with.
///
/// libssh2 1.10 answers exit status 0 when the server sent none, keeps a channel's close to itself
/// and drops the words of a refusal. But it frees each such packet, decrypted and whole, through the
/// session's own `free`, right after it has taken it: here the packet is read once more. Lengths
/// and channel numbers are checked, since other memory passes by too, and a block may be larger
/// than what was written to it.
///
/// A packet whose MAC was wrong is freed as well, and then the session fails: with a failed session
/// nothing that was learnt in its last call may be trusted (see `SSHConnection.exit`).
final class PacketWitness {
  /// What is known of one channel.
  struct Channel {
    var exitStatus: UInt32?
    /// Without `SIG`.
    var exitSignal: String?
    /// The server sends no more and has freed the channel on its side.
    var isClosed = false
  }

  /// By libssh2's own channel number; entries are removed by the connection.
  var channels: [UInt32: Channel] = [:]
  /// The channel that was confirmed last.
  private(set) var confirmedChannel: UInt32?
  /// RFC 4254 §5.1: why the last channel was not opened.
  private(set) var openFailure: (reason: UInt32, words: String)?
  /// RFC 4253 §11.1: the server's reason for the end of the connection.
  private(set) var disconnect: String?
  /// RFC 4253 §7.1: the first two algorithm lists, ours and then the server's.
  private(set) var offers: [AlgorithmOffer] = []
  /// RFC 4252 §5.1: the last no to an attempt to log in. libssh2 says of a step that succeeded
  /// ("partial success") what it says of one that failed.
  var loginFailure: (canGoOn: [String], isPartialSuccess: Bool)?

  /// RFC 4253 §12 and RFC 4254 §9.
  private enum Message {
    static let disconnect: UInt8 = 1
    static let keyExchangeInit: UInt8 = 20
    static let loginFailure: UInt8 = 51
    static let openConfirmation: UInt8 = 91
    static let openFailure: UInt8 = 92
    static let close: UInt8 = 97
    static let request: UInt8 = 98
  }

  /// Called for every block that libssh2 frees, before it is gone.
  func observe(_ block: UnsafeRawBufferPointer) {
    guard let type = block.first else { return }
    switch type {
    case Message.close, Message.request, Message.openConfirmation, Message.openFailure,
      Message.disconnect, Message.keyExchangeInit, Message.loginFailure:
      break
    default: return
    }
    var packet = PacketReader(block.dropFirst())
    switch type {
    case Message.keyExchangeInit:
      if offers.count < 2, let offer = AlgorithmOffer(&packet) { offers.append(offer) }
    case Message.loginFailure:
      if let names = packet.bytes(), Self.isNameList(names), let flag = packet.byte(), flag <= 1 {
        let methods = String(decoding: names, as: UTF8.self).split(separator: ",")
        loginFailure = (methods.map(String.init), flag == 1)
      }
    case Message.disconnect:
      // Other memory that begins with a 1, mostly zeros, has no reason of RFC 4253's and no words.
      if let reason = packet.number(), (1...15).contains(reason), let words = packet.text(),
        !words.isEmpty
      {
        disconnect = words
      }
    default:
      guard let id = packet.number() else { return }
      observe(type, channel: id, &packet)
    }
  }

  /// RFC 4251 §6: names of methods are printable ASCII.
  private static func isNameList(_ bytes: [UInt8]) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private func observe(_ type: UInt8, channel id: UInt32, _ packet: inout PacketReader) {
    switch type {
    case Message.openConfirmation:
      confirmedChannel = id
      channels[id] = Channel()
    case Message.openFailure:
      if let reason = packet.number(), let words = packet.text() { openFailure = (reason, words) }
    case Message.close:
      channels[id]?.isClosed = true
    default:
      guard channels[id] != nil, let name = packet.text(), packet.byte() != nil else { return }
      if name == "exit-status" {
        if let status = packet.number() { channels[id]?.exitStatus = status }
      } else if name == "exit-signal" {
        if let signal = packet.text() { channels[id]?.exitSignal = signal }
      }
    }
  }
}

/// Reads RFC 4251 §5 values; nil where the bytes end too soon.
struct PacketReader {
  private(set) var rest: Slice<UnsafeRawBufferPointer>

  init(_ bytes: Slice<UnsafeRawBufferPointer>) { rest = bytes }

  mutating func byte() -> UInt8? { rest.popFirst() }

  mutating func number() -> UInt32? {
    guard rest.count >= 4 else { return nil }
    let value = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    rest = rest.dropFirst(4)
    return value
  }

  mutating func bytes() -> [UInt8]? {
    guard let count = number(), count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return [UInt8](rest.prefix(Int(count)))
  }

  mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }

  mutating func skip(_ count: Int) { rest = rest.dropFirst(count) }
}

/// Writes RFC 4251 §5 values.
struct PacketWriter {
  private(set) var bytes: [UInt8] = []

  mutating func number(_ value: UInt32) {
    withUnsafeBytes(of: value.bigEndian) { bytes += $0 }
  }

  mutating func text(_ text: String) {
    number(UInt32(text.utf8.count))
    bytes += text.utf8
  }
}
