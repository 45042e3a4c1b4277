"""The client's side of `launch`: the request file, the payload, and their exchange."""

import base64
import hashlib
import subprocess

import channel


def encoded(data: bytes) -> bytes:
    return base64.b64encode(data)


def request_file(
    command: list[bytes],
    cwd: bytes = b"",
    reads: str = "null",
    *,
    name: bytes = b"",
    digest: str | None = None,
    buffering: str = "default",
    limits: list[str] = (),
) -> tuple[str, bytes]:
    """The digest and the text of a request file; the digest leaves out nothing but itself."""
    lines = [b"v=1", b"agent=-", b"name=" + encoded(name), b"cwd=" + encoded(cwd)]
    lines.append(b"stdin=" + reads.encode())
    lines.append(b"buffering=" + buffering.encode())
    lines += [b"arg=" + encoded(argument) for argument in command]
    lines += [limit.encode() for limit in limits]
    text = b"\n".join(lines) + b"\n"
    digest = digest or hashlib.sha256(text).hexdigest()
    return digest, b"digest=" + digest.encode() + b"\n" + text


def checksum(data: bytes) -> str:
    """POSIX cksum's first number."""
    done = subprocess.run(["cksum"], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout.split()[0].decode()


def payload(
    request: bytes,
    prompt: bytes,
    secret: bytes,
    nonce: str,
    damage: str | None = None,
    watch: bytes = b"",
) -> bytes:
    """The announcement line and what it announces, or something else where `damage` says so."""
    total = request + prompt + secret + watch
    sizes = f"{len(request)} {len(prompt)} {len(secret)} {len(watch)} {checksum(total)}"
    match damage:
        case "short":
            total = total[:-1]
        case "long":
            sizes = f"{len(request) - 1} {len(prompt)} {len(secret)} {len(watch)} {checksum(total)}"
        case "checksum":
            total = total[:-1] + b"?"
    return f"{nonce} payload {sizes}\n".encode() + total


def exchange(link: channel.Channel, data: bytes, last: bool = False) -> list[list[str]]:
    """Gives `data` to a launch once it is ready for it; returns the lines of its reply.

    `last`: nothing follows, which a host that waits for more can see.
    """
    # A newline is all that may be sent before `ready`; it frees a startup file that reads a line.
    link.send(b"\n")
    lines = []
    while True:
        fields = link.word()
        lines.append(fields)
        if fields[0] == "ready":
            link.send(data)
            if last:
                link.process.stdin.close()
            return lines + channel.rest_of_reply(link)
        if fields[0] == "end":
            return lines
