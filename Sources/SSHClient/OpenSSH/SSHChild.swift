import CPosix

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One `ssh` that was started, with our ends of its three streams.
///
/// Not Sendable: it lives on the connection's thread. Its number stays ours until `end`, which must
/// be called: it is not waited for before (waitid(2), WNOWAIT), so no signal can reach a stranger.
final class SSHChild {
  /// Also its process group's.
  let pid: pid_t
  /// Our ends, by `Stream`; -1 when closed.
  private var ends: [Int32]

  enum Stream: Int { case input, output, errors }

  /// What a read or write gave.
  enum Progress<Value> {
    case done(Value)
    case notYet
    case ended
  }

  private static let chunk = 64 << 10

  /// - Parameters:
  ///   - session: whether it is put into a session of its own, away from the terminal.
  ///   - variables: `NAME=VALUE`, beside this process's environment or in place of what is there.
  init(_ arguments: [String], session: Bool = false, variables: [String] = [])
    throws(SystemError)
  {
    var ends = [[Int32]](repeating: [-1, -1], count: 3)
    defer { for end in ends.joined() where end >= 0 { closeDescriptor(end) } }
    // A socket, since writing to a pipe without a reader raises a signal.
    for (index, make) in [pocket_socket_pair, pocket_pipe, pocket_pipe].enumerated() {
      let failure = make(&ends[index])
      if failure != 0 { throw SystemError(code: failure) }
    }
    let theirs = [ends[0][1], ends[1][1], ends[2][1]]
    var pid: pid_t = 0
    let failure = Self.withStrings(arguments) { argv in
      Self.withStrings(variables) { own in
        let all = Self.environment(changedBy: own)
        return session
          ? pocket_spawn_session(&pid, arguments[0], argv, all, theirs)
          : pocket_spawn(&pid, arguments[0], argv, all, nil, theirs)
      }
    }
    if failure != 0 { throw SystemError(code: failure) }
    self.pid = pid
    self.ends = ends.map { $0[0] }
    for index in ends.indices {
      _ = fcntl(ends[index][0], F_SETFL, O_NONBLOCK)
      // Ours now; the deferred close is for theirs.
      ends[index][0] = -1
    }
  }

  /// Our end of a stream, for poll(2); -1 when it is closed.
  func end(of stream: Stream) -> Int32 { ends[stream.rawValue] }

  func isOpen(_ stream: Stream) -> Bool { end(of: stream) >= 0 }

  var hasEnded: Bool { pocket_has_ended(pid) != 0 }

  /// Kills it with all that it started in its group, waits for it, closes our ends; the status word
  /// of waitpid(2). To be called once.
  @discardableResult
  func end() -> Int32 {
    kill(-pid, SIGKILL)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    for stream in [Stream.input, .output, .errors] { close(stream) }
    return status
  }

  func close(_ stream: Stream) {
    if isOpen(stream) { closeDescriptor(end(of: stream)) }
    ends[stream.rawValue] = -1
  }

  /// The next bytes of a stream; it is closed when it has ended.
  func read(_ stream: Stream) -> Progress<[UInt8]> {
    guard isOpen(stream) else { return .ended }
    switch Self.read(end(of: stream)) {
    case .ended:
      close(stream)
      return .ended
    case let progress: return progress
    }
  }

  /// What lies in a pipe.
  static func read(_ descriptor: Int32) -> Progress<[UInt8]> {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, initialized in
      repeat {
        #if canImport(Glibc)
          count = Glibc.read(descriptor, buffer.baseAddress, chunk)
        #else
          count = Darwin.read(descriptor, buffer.baseAddress, chunk)
        #endif
      } while count < 0 && errno == EINTR
      initialized = max(0, count)
    }
    if count > 0 { return .done(bytes) }
    return count < 0 && errno == EAGAIN ? .notYet : .ended
  }

  /// Gives the program as many of these bytes as it takes now.
  func write(_ bytes: ArraySlice<UInt8>) -> Progress<Int> {
    guard isOpen(.input) else { return .ended }
    var flags: Int32 = 0
    #if canImport(Glibc)
      flags = Int32(MSG_NOSIGNAL)
    #endif
    var count: Int
    repeat {
      count = bytes.withUnsafeBytes { send(end(of: .input), $0.baseAddress, $0.count, flags) }
    } while count < 0 && errno == EINTR
    if count >= 0 { return .done(count) }
    return errno == EAGAIN ? .notYet : .ended
  }

  /// A null-terminated array of C strings.
  private static func withStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    return body(pointers)
  }

  /// This process's environment as it is, but for these variables; null-terminated.
  private static func environment(
    changedBy own: [UnsafeMutablePointer<CChar>?]
  ) -> [UnsafeMutablePointer<CChar>?] {
    var all = own
    var next = pocket_environment()
    while let entry = next?.pointee {
      let isReplaced = own.contains { own in
        guard let own, let equals = strchr(own, Int32(UInt8(ascii: "="))) else { return false }
        return strncmp(own, entry, equals - own + 1) == 0
      }
      if !isReplaced { all.insert(entry, at: 0) }
      next = next?.successor()
    }
    return all
  }
}
