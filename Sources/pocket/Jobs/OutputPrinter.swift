import Agents
import JobModel
import JobStore

/// Where printing begins.
enum PrintingStart: String, CaseIterable, Sendable {
  /// With the first byte that is stored.
  case start
  /// After what was last shown on a terminal.
  case shown
  /// After what is stored now.
  case now
}

/// Prints a job's output from the store, in the order in which it was committed: `out` to stdout,
/// `err` to stderr. An agent's events become text unless raw lines are wanted.
struct OutputPrinter {
  private let store: JobStore
  private let job: Job
  private let console: Console
  private let movesMarks: Bool
  /// What lies before these positions was shown already.
  private var begin: [JobStream: StreamPosition] = [:]
  private var agent: (reader: AgentReader, text: AgentText)?
  private var sequence: Int64 = 0
  private var generations: [JobStream: Int] = [:]
  private var unsaved: [JobStream: StreamPosition] = [:]
  private var savedAt = ContinuousClock.now

  /// Marks are moved at most this often: each is a write to the store.
  static let markInterval = Duration.milliseconds(250)

  init(
    _ job: Job, in store: JobStore, to console: Console, from start: PrintingStart, isRaw: Bool,
    movesMarks: Bool
  ) async throws {
    self.store = store
    self.job = job
    self.console = console
    self.movesMarks = movesMarks
    if !isRaw, let known = job.request.agent.flatMap(AgentCatalog.agent(named:)) {
      agent = (AgentReader(agent: known), AgentText())
    }
    for stream in JobStream.allCases {
      begin[stream] =
        switch start {
        case .start: nil
        case .shown: try await store.shownMark(of: job.id, stream)
        case .now: try await store.position(of: job.id, stream)
        }
    }
  }

  /// Whether a mark waits for `saveMarks`.
  var hasUnsavedMarks: Bool { !unsaved.isEmpty }

  /// Prints all that is stored and was not printed yet.
  mutating func printStored() async throws {
    while true {
      let chunks = try await store.chunks(of: job.id, after: sequence)
      if chunks.isEmpty { return }
      for chunk in chunks {
        try await print(chunk)
        sequence = chunk.sequence
      }
      if ContinuousClock.now - savedAt >= Self.markInterval { try await saveMarks() }
    }
  }

  /// Prints what an agent's last line without an end held, when the job is over.
  mutating func finish() async throws {
    let events = agent?.reader.finish() ?? []
    try await print(events)
    try await saveMarks()
  }

  /// Notes in the store how far was shown. A store that others keep busy is left for the next time:
  /// without the mark, lines are shown twice and none is missed.
  mutating func saveMarks() async throws {
    for (stream, position) in unsaved {
      do throws(StoreError) {
        try await store.setShownMark(position, of: job.id, stream)
        unsaved[stream] = nil
      } catch {
        guard error.isBusy else { throw error }
        break
      }
    }
    savedAt = .now
  }

  private mutating func print(_ chunk: Chunk) async throws {
    let bytes = unshown(of: chunk)
    if let last = generations[chunk.stream], chunk.generation > last {
      // What comes now is another file's beginning, not what followed in the old one.
      try await console.say(
        "\(chunk.stream.rawValue) was cut, replaced or rewritten on \(job.host);"
          + " what comes now is the file as it is since")
    }
    generations[chunk.stream] = chunk.generation
    if chunk.stream == .err {
      if !bytes.isEmpty { try await console.writeErrors(Array(bytes)) }
    } else if agent != nil {
      // Lines that were shown already are read all the same: a result repeats an earlier text.
      for (part, isShown) in [(chunk.bytes.dropLast(bytes.count), true), (bytes, false)] {
        let events = agent?.reader.read(part) ?? []
        try await print(events, isShown: isShown)
      }
    } else if !bytes.isEmpty {
      try await console.write(Array(bytes))
    }
    note(chunk)
  }

  private mutating func print(_ events: [AgentEvent], isShown: Bool = false) async throws {
    for event in events {
      guard let lines = agent?.text.lines(for: event), !isShown else { continue }
      try await console.write(Array(lines.utf8))
    }
  }

  /// The part of a chunk that lies behind where printing begins.
  private func unshown(of chunk: Chunk) -> ArraySlice<UInt8> {
    guard let begin = begin[chunk.stream] else { return chunk.bytes[...] }
    if chunk.generation != begin.generation {
      return chunk.generation < begin.generation ? [] : chunk.bytes[...]
    }
    return chunk.bytes.dropFirst(max(0, begin.offset - chunk.offset))
  }

  private mutating func note(_ chunk: Chunk) {
    let facts = console.facts
    let isTerminal = chunk.stream == .out ? facts.outputIsTerminal : facts.errorsIsTerminal
    guard movesMarks, isTerminal, chunk.bytes.last == 0x0A || chunk.kind == .fragment else {
      return
    }
    unsaved[chunk.stream] = StreamPosition(
      generation: chunk.generation, offset: chunk.offset + chunk.bytes.count)
  }
}
