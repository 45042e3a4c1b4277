import Testing

/// The tests that use the processor or look at the clock closely, one at a time: sshd takes its time
/// from whatever runs beside it. Suites that mostly wait stand outside.
@Suite(.serialized) enum SSHClientTests {}
