/// One exec channel of a connection.
///
/// Not Sendable: it lives on the connection's thread. Outside it is known by its number only.
final class Channel {
  let pointer: OpaquePointer
  /// libssh2's own number; never used twice in a session.
  let id: UInt32
  /// Which stream a read looks at first; it alternates, so that neither starves the other.
  var nextStream: Int32 = 0
  /// The write under way.
  var writer: UInt64?
  /// Between EAGAIN and its next answer libssh2 holds a header for exactly the bytes of that call:
  /// it must be repeated before anything else is written to the channel.
  var isWriteInFlight = false
  /// How much the window is being enlarged by; 0 when nothing is under way.
  var windowIncrement: UInt32 = 0
  var hasSentEndOfFile = false

  init(pointer: OpaquePointer, id: UInt32) { (self.pointer, self.id) = (pointer, id) }
}
