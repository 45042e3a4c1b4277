/// What a launch passes before the first byte of it leaves, so that whoever gives it up can know, and
/// not guess, whether the host may have heard of the job.
public actor LaunchGate {
  private enum State { case open, passed, closed }
  private var state = State.open

  /// An open gate.
  public init() {}

  /// Lets nothing pass from now on.
  ///
  /// - Returns: whether nothing has passed: then no byte has left, and none will.
  public func close() -> Bool {
    if state == .open { state = .closed }
    return state == .closed
  }

  /// - Throws: `JobError.cancelled` when the launch was given up.
  func pass() throws(JobError) {
    if state == .closed { throw .cancelled }
    state = .passed
  }
}
