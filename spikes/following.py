"""The client's side of `follow`: frames checked as docs/remote-protocol.md says, then kept.

A stream's bytes are kept in files of a folder, `out.0`, `err.0`, and `out.1` after a gap: what was
kept there is where the next follow goes on.
"""

import os
import pathlib
import time

import channel

POLYNOMIAL = 0x04C11DB7


def table() -> list[int]:
    entries = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = ((value << 1) ^ POLYNOMIAL if value & 0x80000000 else value << 1) & 0xFFFFFFFF
        entries.append(value)
    return entries


TABLE = table()


def cksum(data: bytes) -> str:
    """POSIX cksum of up to 512 bytes (the length is part of it)."""
    value = 0
    length = len(data)
    for byte in data:
        value = ((value << 8) & 0xFFFFFFFF) ^ TABLE[(value >> 24) ^ byte]
    while length:
        value = ((value << 8) & 0xFFFFFFFF) ^ TABLE[(value >> 24) ^ (length & 0xFF)]
        length >>= 8
    return str(value ^ 0xFFFFFFFF)


class Kept:
    """What was kept of one stream."""

    def __init__(self, folder: pathlib.Path, name: str):
        self.folder, self.name = folder, name
        self.generation = 0
        while (folder / f"{name}.{self.generation + 1}").exists():
            self.generation += 1
        self.path.touch()

    @property
    def path(self) -> pathlib.Path:
        return self.folder / f"{self.name}.{self.generation}"

    @property
    def inode_path(self) -> pathlib.Path:
        return self.folder / f"{self.name}.{self.generation}.inode"

    @property
    def offset(self) -> int:
        return self.path.stat().st_size

    def tail(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(max(0, self.offset - 512))
            return file.read()

    def arguments(self) -> dict[str, str]:
        name = self.name
        inode = self.inode_path.read_text() if self.inode_path.exists() else "-"
        return {
            f"{name}_generation": str(self.generation),
            f"{name}_offset": str(self.offset),
            f"{name}_inode": inode,
            f"{name}_fingerprint": cksum(self.tail()) if self.offset else "-",
        }

    def append(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    def next_generation(self) -> None:
        self.generation += 1
        self.path.touch()


class Follower:
    """Follows one job into a folder until `end`, or until `stops` says so."""

    def __init__(self, link: channel.Channel, folder: pathlib.Path, stops):
        self.link, self.stops = link, stops
        self.kept = {name: Kept(folder, name) for name in ("out", "err")}
        self.events = (folder / "events").open("a")
        self.received = 0
        self.next_sign = 0.0

    def note(self, *fields: str) -> None:
        self.events.write(f"{round(time.time() * 1000)} {' '.join(fields)}\n")
        self.events.flush()

    def frame(self, name: str, generation: str, offset: str, count: str) -> None:
        kept = self.kept[name]
        if (int(generation), int(offset)) != (kept.generation, kept.offset):
            raise channel.Broken(f"frame at {generation}:{offset}, kept {kept.generation}:{kept.offset}")
        data = self.link.take(int(count))
        self.received += len(data)
        if self.stops(self, "bytes"):
            return
        # Read as a plain line: another's line in place of `sent` must end the follow too.
        fields = self.link.line().decode(errors="replace").split(" ")
        before = kept.tail()
        first = cksum(before[-256:] + data[:256]) if len(data) > 256 else "-"
        last = cksum((before + data)[-512:])
        if fields != [self.link.nonce.decode(), "sent", first, last]:
            raise channel.Broken(f"frame at {offset} not confirmed: {fields}, not {first} {last}")
        kept.append(data)

    def run(self) -> str:
        """The word that ended it."""
        while True:
            now = time.monotonic()
            if now >= self.next_sign:
                self.link.send(b"\n")
                self.next_sign = now + 5
            fields = self.link.word(0.2)
            if fields:
                self.note(*fields)
                match fields:
                    case ["data", name, generation, offset, count]:
                        self.frame(name, generation, offset, count)
                    case ["stream", name, _, _, inode]:
                        self.kept[name].inode_path.write_text(inode)
                    case ["gap", name, *_]:
                        self.kept[name].next_generation()
                    case ["end"]:
                        return "end"
            if self.stops(self, fields[0] if fields else ""):
                return "stopped"


def position(folder: pathlib.Path) -> dict[str, str]:
    """The arguments of a follow that goes on where `folder` ends."""
    os.makedirs(folder, exist_ok=True)
    return Kept(folder, "out").arguments() | Kept(folder, "err").arguments()
