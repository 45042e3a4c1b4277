#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Writes to a file descriptor.
struct DescriptorSink: ByteSink {
  let descriptor: Int32

  func write(_ bytes: [UInt8]) throws(OutputError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let (count, number) = rest.withUnsafeBytes { buffer in
        let count = Self.writeOnce(descriptor, buffer.baseAddress, buffer.count)
        return (count, count < 0 ? errno : 0)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if number == EAGAIN {
        // Somebody who shares the descriptor made it non-blocking.
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wanted, 1, -1)
      } else if number != EINTR {
        throw OutputError(number: number)
      }
    }
  }

  // Inside the struct `write` is the method above.
  private static func writeOnce(
    _ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int
  ) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, start, count)
    #else
      Darwin.write(descriptor, start, count)
    #endif
  }
}

extension TerminalFacts {
  /// The facts of this process's descriptors 0, 1 and 2. NO_COLOR (no-color.org) and TERM=dumb
  /// turn colour and live lines off; COLUMNS overrules the terminal's own width.
  static func ofThisProcess(_ environment: Environment) -> TerminalFacts {
    let noColour = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
    return TerminalFacts(
      inputIsTerminal: isatty(0) == 1, outputIsTerminal: isatty(1) == 1,
      errorsIsTerminal: isatty(2) == 1, isLively: !noColour, columns: columns(environment))
  }

  private static func columns(_ environment: Environment) -> Int {
    if let text = environment["COLUMNS"], let number = Int(text), number > 0 { return number }
    var size = winsize()
    for descriptor: Int32 in [1, 2] where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 {
      if size.ws_col > 0 { return Int(size.ws_col) }
    }
    return 80
  }
}
