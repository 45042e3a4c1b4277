"""One remote command over the `ssh` program, and the lines of its reply."""

import os
import secrets
import select
import subprocess
import tempfile
import time

import render

HOST = os.environ.get("SPIKES_HOST", "host")


class Broken(Exception):
    """The reply cannot be used: no end line, not in time, or not as the protocol says."""


def fresh_nonce() -> str:
    return secrets.token_hex(8)


def ssh_command(command: str, host: str) -> list[str]:
    config = os.environ["SPIKES_SSH_CONFIG"]
    return ["ssh", "-F", config, "-T", "-o", "BatchMode=yes", host, command]


class Channel:
    """A verb that runs on the host. Reads are bounded by a deadline in seconds from the start."""

    def __init__(self, arguments: list[str], nonce: str, deadline: float, environment=None):
        self.nonce = nonce.encode()
        self.noise = b""
        self.buffer = b""
        self.started = time.monotonic()
        self.ends_at = self.started + deadline
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            bufsize=0,
            env=environment,
        )

    def elapsed(self) -> int:
        """Milliseconds since the command was sent."""
        return round((time.monotonic() - self.started) * 1000)

    def send(self, data: bytes) -> None:
        """Sends all of `data`; a host that has gone away shows itself in the next read."""
        try:
            while data:
                data = data[self.process.stdin.write(data) :]
        except BrokenPipeError:
            pass

    def read_more(self, wait: float | None = None) -> bool:
        """Takes in what there is. False when nothing came within `wait` seconds."""
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise Broken("no reply in time" + self.what_the_host_said())
        limit = left if wait is None else min(left, wait)
        if not select.select([self.process.stdout], [], [], limit)[0]:
            return False
        chunk = os.read(self.process.stdout.fileno(), 1 << 18)
        if not chunk:
            raise Broken("the channel ended early" + self.what_the_host_said())
        self.buffer += chunk
        return True

    def line(self, wait: float | None = None) -> bytes | None:
        """The next line without its 0x0A; None when none came within `wait` seconds."""
        while b"\n" not in self.buffer:
            if not self.read_more(wait) and wait is not None:
                return None
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def word(self, wait: float | None = None) -> list[str] | None:
        """The next line that bears the nonce, split into fields; noise before it is kept aside."""
        while (line := self.line(wait)) is not None:
            if line.startswith(self.nonce + b" "):
                return line[len(self.nonce) + 1 :].decode().split(" ")
            self.noise = (self.noise + line + b"\n")[-4000:]
        return None

    def take(self, count: int) -> bytes:
        """Exactly `count` bytes."""
        while len(self.buffer) < count:
            self.read_more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def what_the_host_said(self) -> str:
        self.errors.seek(0)
        said = (self.noise + self.buffer[-1000:] + self.errors.read()).decode(errors="replace")
        return f"; the host said:\n{said}" if said.strip() else ""

    def close(self, wait: float = 5) -> int | None:
        """Ends our side. The milliseconds until the host's side ended too, None if it did not."""
        self.process.stdin.close()
        stop = time.monotonic() + wait
        closed = None
        while (left := stop - time.monotonic()) > 0:
            if select.select([self.process.stdout], [], [], left)[0]:
                if not os.read(self.process.stdout.fileno(), 1 << 18):
                    closed = self.elapsed()
                    break
        if closed is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        return closed


def rest_of_reply(channel: Channel) -> list[list[str]]:
    """All lines up to `end`."""
    lines = []
    while True:
        fields = channel.word()
        lines.append(fields)
        if fields[0] == "end":
            return lines


def open_verb(verb: str, arguments: dict[str, str], host: str, deadline: float, **more) -> Channel:
    nonce = more.get("nonce") or fresh_nonce()
    text = render.script(verb, {"nonce": nonce} | arguments)
    return Channel(ssh_command(render.command(text, nonce), host), nonce, deadline)
