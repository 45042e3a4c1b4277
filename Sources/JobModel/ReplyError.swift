/// Why a verb's answer cannot be believed. The channel is of no more use then.
public enum ReplyError: Error, Sendable, Hashable {
  /// A line of the script's is longer than 64 KiB; this is its beginning.
  case lineTooLong(String)
  /// A line of the script's is not as docs/remote-protocol.md has it.
  case malformed(String)
  /// After `begin` came a line that is not the script's.
  case unexpected(String)
  /// A frame of this many bytes was announced; more than 8 MiB, or less than one, are never sent.
  case frameSize(Int64)
  /// After a frame's bytes came this line in place of `sent`.
  case frameNotSent(String)
  /// The answer stopped before its `end`; this is what came before `begin`, at most 4 KiB.
  case incomplete(began: Bool, noise: [UInt8])
}

extension ReplyError: CustomStringConvertible {
  /// What happened, for people.
  public var description: String {
    switch self {
    case .lineTooLong(let line): "The host sent a line of over 64 KiB: \(line.prefix(200))"
    case .malformed(let line): "The host's answer holds a line that cannot be read: \(line)"
    case .unexpected(let line): "Something else wrote into the host's answer: \(line)"
    case .frameSize(let count): "The host announced a frame of \(count) bytes."
    case .frameNotSent(let line): "A frame was not confirmed; in its place came: \(line)"
    case .incomplete(began: true, _): "The host's answer stopped before its end."
    case .incomplete(began: false, let noise):
      noise.isEmpty
        ? "The host did not answer."
        : "The host ran something else than Pocket's script. A ForceCommand in its sshd_config, a"
          + " command= in authorized_keys or your login shell there may do that"
    }
  }
}
