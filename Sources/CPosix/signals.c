#include "pocket_signals.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signal_descriptor = -1;

static void write_number(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  // A full pipe holds a signal that nobody has read yet: one more would say nothing new.
  ssize_t ignored = write(signal_descriptor, &byte, 1);
  (void)ignored;
  errno = saved;
}

static int handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL);
}

int pocket_signal_to_descriptor(int number, int descriptor) {
  signal_descriptor = descriptor;
  return handle(number, write_number);
}

static void do_nothing(int number) { (void)number; }

int pocket_survive_broken_pipes(void) { return handle(SIGPIPE, do_nothing); }
