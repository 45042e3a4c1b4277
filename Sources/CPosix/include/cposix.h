// What Swift cannot import from libc: macros with arguments, variadic calls, and functions that
// Glibc's module map leaves out. Nothing else belongs here. One prefix: `pocket_`.
#pragma once
#include <sys/types.h>

/// How a child ended, from `waitpid`'s status word (wait(2)): its exit code, or -1.
int pocket_exit_code(int status);
/// The signal that ended a child, from `waitpid`'s status word (wait(2)), or 0.
int pocket_termination_signal(int status);

/// Whether a child has ended; it stays a zombie, so that neither its number nor its group's is given
/// to a stranger before `waitpid`.
int pocket_has_ended(pid_t pid);
/// The signal that has stopped a child, or 0.
int pocket_stop_signal(pid_t pid);

/// Two connected stream sockets that no child inherits, and that block. Returns 0 or an error number.
int pocket_socket_pair(int ends[2]);
/// A stream socket that no child inherits and that never blocks: -1 and errno on failure. Atomic
/// where the system can (Linux), since another thread may spawn at any moment.
int pocket_stream_socket(int domain);
/// How many bytes a block of malloc(3) really has; at least what was asked for.
size_t pocket_block_size(const void *block);
/// Makes malloc give large blocks back at once and share few arenas, where it can be told (glibc):
/// what a client needs for a moment must not stay with it for the night. To be called before any
/// thread is started.
void pocket_keep_memory_small(void);
/// The process's environment; Swift 6 does not let the global `environ` be read.
char **pocket_environment(void);
