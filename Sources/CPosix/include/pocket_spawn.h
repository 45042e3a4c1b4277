// Starting a program. Glibc's module map leaves out the calls that set a child's folder and close
// its inherited descriptors, so the whole of it is done here.
#pragma once
#include <sys/types.h>

/// Starts a program in a process group of its own, with default signal handling and no blocked
/// signal, `fds` as its descriptors 0, 1 and 2, and every other descriptor closed (a pipe of
/// another child that is started at the same moment must not leak into it).
///
/// `program` is looked up on this process's PATH when it holds no slash. `folder` may be null.
/// Each of `fds` is above 2, or already in its place. Returns 0 or an error number (posix_spawn(3)).
int pocket_spawn(pid_t *pid, const char *program, char *const arguments[],
                 char *const environment[], const char *folder, const int fds[3]);

/// The same in a session of its own, which has no terminal: the program cannot ask there, and no
/// key pressed there reaches it.
int pocket_spawn_session(pid_t *pid, const char *program, char *const arguments[],
                         char *const environment[], const int fds[3]);

/// A pipe whose ends are not inherited (pipe2(2) where there is one). Returns 0 or an error number.
int pocket_pipe(int ends[2]);
