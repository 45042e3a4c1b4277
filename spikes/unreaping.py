"""Runs a program and adopts every orphan below it, without waiting for one while it runs.

Orphans stay zombies then, as under a container's PID 1 that does not reap. TERM ends the program and
then reaps what is dead.
"""

import ctypes
import os
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36

libc = ctypes.CDLL(None, use_errno=True)
if hasattr(libc, "prctl"):
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
child = os.fork()
if child == 0:
    # Python ignores these two, and what is ignored would be inherited down to every job.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
os.waitpid(child, 0)
try:
    while os.waitpid(-1, os.WNOHANG)[0]:
        pass
except ChildProcessError:
    pass
