extension Command {
  /// The same command under a wall clock that is wrong by `shift`, in faketime's words (`-2d`,
  /// `+3h`); how fast time goes is right, and so are the clocks that only count.
  package func withClock(shifted shift: String) -> Command {
    var shifted = self
    shifted.program = "faketime"
    shifted.arguments = ["-m", "--exclude-monotonic", "-f", shift, program] + arguments
    return shifted
  }
}
