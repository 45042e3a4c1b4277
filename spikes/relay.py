"""A TCP relay on loopback in front of sshd, whose one link can be broken in the ways a network does.

usage: relay.py TARGET_PORT FOLDER. The port it listens on is written to FOLDER/port. Signals say what
happens to the links: USR1 resets them (RST to both sides), USR2 lets nothing through any more, in
either direction, without closing anything.
"""

import pathlib
import select
import signal
import socket
import struct
import sys

target, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
peers: dict[socket.socket, socket.socket] = {}
# A signal handler only leaves a byte here, so that nothing changes in the middle of a turn.
wake_read, wake_write = socket.socketpair()
wake_write.setblocking(False)
signal.set_wakeup_fd(wake_write.fileno())
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGUSR2, lambda *_: None)


def close(end: socket.socket, how: bytes | None = None) -> None:
    for each in (end, peers.get(end)):
        if each in peers:
            del peers[each]
            if how:
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, how)
            each.close()


deaf = False
(folder / "port.new").write_text(f"{listener.getsockname()[1]}\n")
(folder / "port.new").rename(folder / "port")
while True:
    for ready in select.select([listener, wake_read] + ([] if deaf else list(peers)), [], [])[0]:
        if ready is wake_read:
            said = wake_read.recv(1)[0]
            if said == signal.SIGUSR1:
                for end in list(peers):
                    # Lingering for zero seconds makes close(2) send a reset.
                    close(end, struct.pack("ii", 1, 0))
            deaf = deaf or said == signal.SIGUSR2
        elif ready is listener:
            near = listener.accept()[0]
            far = socket.create_connection(("127.0.0.1", target))
            peers[near], peers[far] = far, near
        elif ready in peers:
            try:
                data = ready.recv(1 << 16)
                if data:
                    peers[ready].sendall(data)
                else:
                    close(ready)
            except OSError:
                close(ready)
