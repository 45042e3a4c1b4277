#include "cposix.h"
#include <sys/wait.h>

int pocket_exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
int pocket_termination_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
