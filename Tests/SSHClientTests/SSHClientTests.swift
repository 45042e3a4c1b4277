import Testing

/// All tests of this module, one at a time: several look at the clock, and sshd takes the processor
/// from whatever runs beside it.
@Suite(.serialized) enum SSHClientTests {}
