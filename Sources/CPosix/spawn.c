#define _GNU_SOURCE
#include "pocket_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static int set_attributes(posix_spawnattr_t *attributes, short standing) {
  sigset_t all, none;
  short flags = standing | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
#ifdef POSIX_SPAWN_CLOEXEC_DEFAULT
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  sigfillset(&all);
  sigemptyset(&none);
  int error = posix_spawnattr_setsigdefault(attributes, &all);
  if (error == 0) error = posix_spawnattr_setsigmask(attributes, &none);
  if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
  if (error == 0) error = posix_spawnattr_setflags(attributes, flags);
  return error;
}

static int set_actions(posix_spawn_file_actions_t *actions, const char *folder, const int fds[3]) {
  for (int i = 0; i < 3; i++) {
    // A descriptor in the way of an earlier one would be overwritten before it is copied.
    if (fds[i] < 3 && fds[i] != i) return EINVAL;
    int error = posix_spawn_file_actions_adddup2(actions, fds[i], i);
    if (error != 0) return error;
  }
#ifndef POSIX_SPAWN_CLOEXEC_DEFAULT
  int error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
  if (error != 0) return error;
#endif
  return folder == NULL ? 0 : posix_spawn_file_actions_addchdir_np(actions, folder);
}

static int start(pid_t *pid, const char *program, char *const arguments[],
                 char *const environment[], const char *folder, const int fds[3], short standing) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  int error = posix_spawnattr_init(&attributes);
  if (error != 0) return error;
  error = posix_spawn_file_actions_init(&actions);
  if (error == 0) {
    error = set_attributes(&attributes, standing);
    if (error == 0) error = set_actions(&actions, folder, fds);
    if (error == 0)
      error = posix_spawnp(pid, program, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
  }
  posix_spawnattr_destroy(&attributes);
  return error;
}

int pocket_spawn(pid_t *pid, const char *program, char *const arguments[],
                 char *const environment[], const char *folder, const int fds[3]) {
  return start(pid, program, arguments, environment, folder, fds, POSIX_SPAWN_SETPGROUP);
}

int pocket_spawn_session(pid_t *pid, const char *program, char *const arguments[],
                         char *const environment[], const int fds[3]) {
  return start(pid, program, arguments, environment, NULL, fds, POSIX_SPAWN_SETSID);
}

int pocket_pipe(int ends[2]) {
#ifdef __linux__
  return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
#else
  if (pipe(ends) != 0) return errno;
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  return 0;
#endif
}
