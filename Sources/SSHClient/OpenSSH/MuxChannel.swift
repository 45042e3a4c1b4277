/// One command over the master, and the `ssh` that asked for it. The master holds that one's streams
/// and moves the bytes itself; its own words go to a pipe apart, so that the command's stderr stays
/// the command's.
///
/// Not Sendable: it lives on the connection's thread.
final class MuxChannel {
  let child: SSHChild
  private let folder: ControlFolder
  private let logName: String
  /// For poll(2).
  let logPipe: Int32
  private var log: [UInt8] = []

  // What somebody waits for. A reader that was cancelled may leave after the next has come.
  var isOpening = true
  var readers = 0
  var writers = 0
  /// Which stream a read looks at first; it alternates, so that neither starves the other.
  var nextStream = SSHChild.Stream.output
  /// When both streams had ended.
  var streamsEndedAt: ContinuousClock.Instant?
  /// Whether the master has answered since the command ended without a status; nil before it was
  /// asked.
  var masterLives: Bool?
  var isAskingMaster = false
  /// Set when nothing more can come.
  var exit: RemoteExit?

  init(
    _ number: Int, _ command: String, _ arguments: MasterArguments, _ folder: ControlFolder
  ) throws(SystemError) {
    self.folder = folder
    logName = "c\(number)"
    logPipe = try folder.makePipe(logName)
    do throws(SystemError) {
      child = try SSHChild(arguments.channel(folder, log: logName, command))
    } catch {
      closeDescriptor(logPipe)
      folder.forget(logName)
      throw error
    }
  }

  /// Whether the master has confirmed the channel. Output proves it as well.
  var isConfirmed: Bool { said.contains { $0.contains("master session id: ") } }

  /// The status that the server sent for the command. `ssh` itself ends with 255 whenever it does
  /// not know better, so its exit code is no evidence.
  var status: Int? {
    let mark = "Received exit status from master "
    let line = said.last { $0.contains(mark) }
    return line?.split(separator: " ").last.flatMap { Int($0) }
  }

  /// What is no line for debugging.
  var words: String {
    said.filter { !$0.isEmpty && !$0.hasPrefix("debug") }.joined(separator: "; ")
  }

  private var said: [String] {
    while case .done(let bytes) = SSHChild.read(logPipe) { log += bytes }
    return saidLines(log)
  }

  /// Lets go of everything. The master tells the server that nobody reads or writes any more.
  func end() {
    child.end()
    closeDescriptor(logPipe)
    folder.forget(logName)
  }
}
