#define _GNU_SOURCE
#include "cposix.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

extern char **environ;

int pocket_exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
int pocket_termination_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

int pocket_has_ended(pid_t pid) {
  siginfo_t info;
  info.si_pid = 0;
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 1;
  return info.si_pid == pid;
}

int pocket_stream_socket(int domain) {
#ifdef __linux__
  return socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
  int descriptor = socket(domain, SOCK_STREAM, 0);
  if (descriptor < 0) return -1;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  // A write to a closed peer must be an error, not the end of the process.
  int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
  return descriptor;
#endif
}

int pocket_stop_signal(pid_t pid) {
  siginfo_t info;
  info.si_pid = 0;
  if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid == pid ? info.si_status : 0;
}

int pocket_socket_pair(int ends[2]) {
#ifdef __linux__
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
#else
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return errno;
  int on = 1;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    setsockopt(ends[i], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
  }
  return 0;
#endif
}

size_t pocket_block_size(const void *block) {
#ifdef __APPLE__
  return malloc_size(block);
#else
  return malloc_usable_size((void *)block);
#endif
}

void pocket_keep_memory_small(void) {
#ifdef __GLIBC__
  // Without this, the first large block that is freed raises the threshold to its size (mallopt(3)).
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_ARENA_MAX, 2);
#endif
}

char **pocket_environment(void) { return environ; }
