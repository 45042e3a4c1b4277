import CCrypto
import CPosix
import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The socket under one libssh2 session, and what can be seen from there.
///
/// libssh2 1.10 breaks when a packet is half sent: until the same call has finished it, every other
/// sender gets -7 or -39, and a keepalive is finished from a stack that is gone. So here a send
/// always takes the whole packet: what the socket does not take is kept and flushed when it is
/// writable. Back-pressure is given above: no one writes channel data while something is kept.
///
/// Not Sendable: it lives on the connection's thread.
final class Wire {
  let socket: Int32
  let witness = PacketWitness()
  /// How many bytes libssh2 has received. A pass during which it moved may have put data in any
  /// channel's queue, so poll(2) must not sleep before everyone has looked again.
  private(set) var received: UInt64 = 0
  private(set) var sent: UInt64 = 0
  /// On a clock that goes on while the machine is suspended.
  private(set) var lastReceived = ContinuousClock.now
  /// The first bytes, for the error when they are not SSH.
  private(set) var greeting: [UInt8] = []
  /// Whether the other side has ended the connection, or the way there has. libssh2 says of that what
  /// it says of a peer that it does not understand.
  private(set) var hasEnded = false
  /// Once set, every call fails at once: libssh2 can then free what it holds without waiting.
  var isDead = false
  /// Who answers the server's questions, while there are any: libssh2's callback knows the session
  /// only.
  var conversation: KeyboardConversation?
  /// Until the login is over, libssh2 frees packets with passwords in them as they are.
  var wipesFreedMemory = true

  /// How much libssh2 may still receive before it is told that there is no more for now. Each of
  /// its calls drains the socket; without an end a fast sender would keep it there until the
  /// window is used up, while reads and their window increments wait.
  var allowance = 0
  static let fullAllowance = 256 << 10

  private var kept: [UInt8] = []
  private var keptStart = 0

  private static let greetingLimit = 256

  init(socket: Int32) { self.socket = socket }

  /// Whether bytes wait for the socket to be writable.
  var hasUnsentBytes: Bool { keptStart < kept.count }

  /// Whether the socket holds bytes that nobody has read yet: a server that hangs up has often said
  /// why just before.
  var hasUnreadBytes: Bool {
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, Int32(MSG_PEEK)) > 0
  }

  /// Gives the kept bytes to the socket as far as it takes them.
  func flush() -> Bool {
    while hasUnsentBytes {
      let count = kept.withUnsafeBytes {
        Self.sendOnce(socket, $0.baseAddress! + keptStart, kept.count - keptStart)
      }
      if count < 0 { return -count == Int(EAGAIN) }
      keptStart += count
    }
    kept.removeAll(keepingCapacity: true)
    keptStart = 0
    return true
  }

  // MARK: Called by libssh2; a negative errno is a failure

  fileprivate func receive(_ buffer: UnsafeMutableRawPointer, _ length: Int) -> Int {
    if isDead { return -Int(ECONNRESET) }
    if allowance <= 0 { return -Int(EAGAIN) }
    var count = recv(socket, buffer, length, 0)
    while count < 0, errno == EINTR { count = recv(socket, buffer, length, 0) }
    if count < 0 {
      let number = errno == EWOULDBLOCK ? EAGAIN : errno
      if number != EAGAIN { hasEnded = true }
      return -Int(number)
    }
    guard count > 0 else {
      hasEnded = true
      return 0
    }
    received += UInt64(count)
    allowance -= count
    lastReceived = .now
    if greeting.count < Self.greetingLimit {
      greeting += UnsafeRawBufferPointer(start: buffer, count: count)
        .prefix(Self.greetingLimit - greeting.count)
    }
    return count
  }

  fileprivate func send(_ buffer: UnsafeRawPointer, _ length: Int) -> Int {
    if isDead { return -Int(ECONNRESET) }
    var count = 0
    if !hasUnsentBytes {
      count = Self.sendOnce(socket, buffer, length)
      if count < 0 {
        guard -count == Int(EAGAIN) else {
          hasEnded = true
          return count
        }
        count = 0
      }
    }
    if count < length {
      kept += UnsafeRawBufferPointer(start: buffer + count, count: length - count)
    }
    sent += UInt64(length)
    return length
  }

  /// What the socket took, or a negative errno; never a signal.
  static func sendOnce(
    _ socket: Int32, _ buffer: UnsafeRawPointer, _ length: Int
  ) -> Int {
    #if canImport(Glibc)
      let flags = Int32(MSG_NOSIGNAL)
    #else
      let flags: Int32 = 0
    #endif
    while true {
      #if canImport(Glibc)
        let count = Glibc.send(socket, buffer, length, flags)
      #else
        let count = Darwin.send(socket, buffer, length, flags)
      #endif
      if count >= 0 { return count }
      if errno == EINTR { continue }
      return -Int(errno == EWOULDBLOCK ? EAGAIN : errno)
    }
  }

  // MARK: Session

  /// A new non-blocking session whose socket calls and memory go through this object, which must
  /// outlive it.
  func makeSession() -> OpaquePointer? {
    let abstract = Unmanaged.passUnretained(self).toOpaque()
    guard
      let session = libssh2_session_init_ex(
        allocateMemory, freeMemory, reallocateMemory, abstract)
    else { return nil }
    pocket_ssh2_set_socket_callbacks(session, receiveBytes, sendBytes)
    libssh2_session_set_blocking(session, 0)
    return session
  }
}

func wire(
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Wire? {
  guard let pointer = abstract?.pointee else { return nil }
  return Unmanaged<Wire>.fromOpaque(pointer).takeUnretainedValue()
}

private func receiveBytes(
  _ socket: Int32, _ buffer: UnsafeMutableRawPointer?, _ length: Int, _ flags: Int32,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int {
  guard let buffer, let wire = wire(abstract) else { return -Int(EBADF) }
  return wire.receive(buffer, length)
}

private func sendBytes(
  _ socket: Int32, _ buffer: UnsafeRawPointer?, _ length: Int, _ flags: Int32,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int {
  guard let buffer, let wire = wire(abstract) else { return -Int(EBADF) }
  return wire.send(buffer, length)
}

// Plain malloc and free, so that a block of libssh2's that was made or freed behind the session's
// back (1.11.1 does that with ECDSA keys) does no harm.

private func allocateMemory(
  _ size: Int, _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> UnsafeMutableRawPointer? {
  malloc(size)
}

private func freeMemory(
  _ pointer: UnsafeMutableRawPointer?, _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) {
  guard let pointer else { return }
  let size = pocket_block_size(pointer)
  if let wire = wire(abstract) {
    wire.witness.observe(UnsafeRawBufferPointer(start: pointer, count: size))
    if wire.wipesFreedMemory { OPENSSL_cleanse(pointer, size) }
  }
  free(pointer)
}

private func reallocateMemory(
  _ pointer: UnsafeMutableRawPointer?, _ size: Int,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> UnsafeMutableRawPointer? {
  realloc(pointer, size)
}
