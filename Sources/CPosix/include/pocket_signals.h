// This process's signals: a handler must not run Swift code (signal-safety(7)).
#pragma once

/// From now on `signal` writes its number as one byte to `descriptor`, which should not block.
/// A handler, not SIG_IGN or a mask: those would be inherited by programs that we start.
/// Returns 0, or -1 with errno.
int pocket_signal_to_descriptor(int signal, int descriptor);
/// From now on a write to a pipe without a reader fails with EPIPE and kills nobody. Programs that
/// we start are not affected. Returns 0, or -1 with errno.
int pocket_survive_broken_pipes(void);
