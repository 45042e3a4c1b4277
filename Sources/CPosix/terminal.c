#include "pocket_terminal.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { watched_count = sizeof watched / sizeof *watched };

static volatile sig_atomic_t terminal = -1;
static volatile sig_atomic_t wake_descriptor = -1;
static struct termios shown, hidden;
static struct sigaction previous[watched_count], previous_stop;

static void restore_handlers(void) {
  for (int i = 0; i < watched_count; i++) sigaction(watched[i], &previous[i], NULL);
  sigaction(SIGTSTP, &previous_stop, NULL);
}

static void tell(int number) {
  unsigned char byte = (unsigned char)number;
  ssize_t ignored = write(wake_descriptor, &byte, 1);
  (void)ignored;
}

// What the process would have done with the signal happens when this returns: it ends, or another
// handler runs.
static void show_and_go_on(int number) {
  int saved = errno;
  int descriptor = terminal;
  // First: whoever is about to hide the typing on another thread looks at this afterwards.
  terminal = -1;
  tcsetattr(descriptor, TCSANOW, &shown);
  restore_handlers();
  tell(number);
  raise(number);
  errno = saved;
}

// Ctrl-Z: the shell must find the terminal as it was. SIGSTOP and not SIGTSTP once more, since it
// stops the process here and now.
static void show_while_stopped(int number) {
  int saved = errno;
  tcsetattr(terminal, TCSANOW, &shown);
  raise(SIGSTOP);
  tcsetattr(terminal, TCSANOW, &hidden);
  tell(number);
  errno = saved;
}

int pocket_hide_typing(int descriptor, int wake) {
  if (tcgetattr(descriptor, &shown) != 0) return -1;
  hidden = shown;
  hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = show_and_go_on;
  // No second one while the first puts things back.
  sigfillset(&action.sa_mask);
  wake_descriptor = wake;
  terminal = descriptor;
  for (int i = 0; i < watched_count; i++) {
    sigaction(watched[i], NULL, &previous[i]);
    // As nohup(1) has it: what is ignored stays so.
    if (previous[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, NULL);
  }
  sigaction(SIGTSTP, NULL, &previous_stop);
  action.sa_handler = show_while_stopped;
  if (previous_stop.sa_handler != SIG_IGN) sigaction(SIGTSTP, &action, NULL);
  if (tcsetattr(descriptor, TCSAFLUSH, &hidden) == 0) {
    // A signal that came just before has put back what was not hidden yet, and nobody else would.
    if (terminal < 0) tcsetattr(descriptor, TCSANOW, &shown);
    return 0;
  }
  int failure = errno;
  pocket_show_typing();
  errno = failure;
  return -1;
}

void pocket_show_typing(void) {
  if (terminal < 0) return;
  tcsetattr(terminal, TCSAFLUSH, &shown);
  restore_handlers();
  terminal = -1;
}
