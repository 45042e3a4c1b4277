import CPosix
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What stands at the other end of the three standard descriptors.
struct TerminalFacts: Sendable {
  var inputIsTerminal = false
  var outputIsTerminal = false
  var errorsIsTerminal = false
  /// Whether colour and live lines are wanted where there is a terminal.
  var isLively = true
  /// The terminal's width in columns.
  var columns = 80
}

/// Where bytes go. A write may block: `Console` calls it on a thread of its own.
protocol ByteSink: Sendable {
  func write(_ bytes: [UInt8]) throws(OutputError)
}

/// Output that could not be written.
struct OutputError: Error, Equatable {
  let number: Int32
  /// Whether the reader is gone, as in `pocket logs @ | head`: no reason to complain.
  var isReaderGone: Bool { number == EPIPE }
}

/// All that is shown to the user. stdout carries data; Pocket's own words go to stderr, each line
/// beginning `pocket: `. To a terminal nothing goes that could drive it beyond colour; anywhere
/// else bytes pass exactly.
///
/// An actor on a queue of its own, since a terminal that was stopped, or a pipe to a pager, may
/// keep a write waiting for hours.
actor Console {
  nonisolated let facts: TerminalFacts
  private let executor = QueueExecutor(label: "pocket.console")
  private let output: any ByteSink
  private let errors: any ByteSink
  private var outputSanitizer: TerminalSanitizer
  private var errorsSanitizer: TerminalSanitizer
  /// Whether the cursor of a terminal stands at the start of a line. Both streams share it.
  private var isAtLineStart = true
  private var status: String?
  private var lastNews: (text: String, at: ContinuousClock.Instant)?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(output: any ByteSink, errors: any ByteSink, facts: TerminalFacts) {
    self.output = output
    self.errors = errors
    self.facts = facts
    outputSanitizer = TerminalSanitizer(allowsColour: facts.isLively)
    errorsSanitizer = TerminalSanitizer(allowsColour: facts.isLively)
  }

  /// Colours for stdout, or none.
  nonisolated var style: Style { Style(isOn: facts.outputIsTerminal && facts.isLively) }

  /// Writes what others said to stdout.
  func write(_ bytes: [UInt8]) throws(OutputError) {
    guard facts.outputIsTerminal else { return try output.write(bytes) }
    try clearStatus()
    try put(outputSanitizer.sanitize(bytes), to: output)
    try drawStatus()
  }

  /// Writes what others said to stderr.
  func writeErrors(_ bytes: [UInt8]) throws(OutputError) {
    guard facts.errorsIsTerminal else { return try errors.write(bytes) }
    try clearStatus()
    try put(errorsSanitizer.sanitize(bytes), to: errors)
    try drawStatus()
  }

  /// Writes a line of our own to stdout. Whatever others chose in it went through `printable`.
  func print(_ line: String = "") throws(OutputError) {
    try clearStatus()
    try put(Array((line + "\n").utf8), to: output)
    try drawStatus()
  }

  /// Says something to the user, on stderr.
  func say(_ text: String) throws(OutputError) {
    try clearStatus()
    try breakLine()
    try put(Array("pocket: \(printable(text))\n".utf8), to: errors)
    try drawStatus()
  }

  /// Shows what is going on in a line that the next one replaces; nil takes it away. Without a
  /// terminal, what is news is said as a line, though not more often than every 30 s.
  func show(status text: String?, isNews: Bool = false) throws(OutputError) {
    guard facts.errorsIsTerminal, facts.isLively else {
      guard isNews, let text else { return }
      let now = ContinuousClock.now
      if let last = lastNews, last.text == text || now - last.at < .seconds(30) { return }
      lastNews = (text, now)
      return try say(text)
    }
    try clearStatus()
    status = text.map(printable)
    try drawStatus()
  }

  /// Takes the live line away and gives its text, for `show(status:)` after a question.
  func takeStatus() throws(OutputError) -> String? {
    let shown = status
    try clearStatus()
    status = nil
    return shown
  }

  /// Leaves the terminal as it was found: no live line, no colour, nothing held back.
  func finish() throws(OutputError) {
    try clearStatus()
    status = nil
    if facts.outputIsTerminal { try put(outputSanitizer.finish(), to: output) }
    if facts.errorsIsTerminal { try put(errorsSanitizer.finish(), to: errors) }
    try resetColour()
  }

  private func put(_ bytes: [UInt8], to sink: any ByteSink) throws(OutputError) {
    guard let last = bytes.last else { return }
    isAtLineStart = last == 0x0A
    try sink.write(bytes)
  }

  private func clearStatus() throws(OutputError) {
    if status != nil, isAtLineStart { try errors.write(Array("\r\u{1B}[K".utf8)) }
  }

  private func drawStatus() throws(OutputError) {
    guard let status, isAtLineStart else { return }
    try resetColour()
    let line = fitted("pocket: " + status, to: facts.columns - 1)
    try errors.write(Array("\u{1B}[2m\(line)\u{1B}[0m".utf8))
  }

  /// Gives our line a line of its own when the job's last one has no end.
  private func breakLine() throws(OutputError) {
    guard facts.errorsIsTerminal else { return }
    try resetColour()
    if !isAtLineStart, facts.outputIsTerminal { try put([0x0A], to: errors) }
  }

  private func resetColour() throws(OutputError) {
    let reset = Array("\u{1B}[0m".utf8)
    if outputSanitizer.isColoured {
      outputSanitizer.colourWasReset()
      try output.write(reset)
    }
    if errorsSanitizer.isColoured {
      errorsSanitizer.colourWasReset()
      try errors.write(reset)
    }
  }
}

/// Colours for our own words, where colour is wanted.
struct Style: Sendable {
  let isOn: Bool
  func bold(_ text: String) -> String { wrap(text, "1") }
  func dim(_ text: String) -> String { wrap(text, "2") }
  func red(_ text: String) -> String { wrap(text, "31") }
  func green(_ text: String) -> String { wrap(text, "32") }
  func yellow(_ text: String) -> String { wrap(text, "33") }

  private func wrap(_ text: String, _ code: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

/// Runs an actor's jobs on a dispatch queue, so that what blocks in them keeps no thread of the
/// cooperative pool.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
