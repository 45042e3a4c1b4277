"""A client for the spikes: drives a script of shell/ through ssh, prints its reply without nonces.

Exit status 0 when the reply had its end line, 1 when it had not; then stderr says why.
"""

import argparse
import os
import pathlib
import sys
import time

import channel
import following
import launching
import render


def assignments(pairs: list[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs)


def tell(lines: list[list[str]]) -> None:
    for fields in lines:
        print(" ".join(fields))


def do_render(options) -> int:
    """Prints the remote command of a verb."""
    arguments = {"nonce": channel.fresh_nonce()} | assignments(options.arguments)
    print(render.command(render.script(options.verb, arguments), arguments["nonce"]), end="")
    return 0


def do_ask(options) -> int:
    """A verb that takes nothing on stdin."""
    link = channel.open_verb(
        options.verb, assignments(options.arguments), options.host, options.deadline
    )
    # A newline frees a startup file that reads a line.
    link.send(b"\n")
    tell(channel.rest_of_reply(link))
    link.close(0.5)
    return 0


def do_launch(options) -> int:
    """Launches a job."""
    prompt = pathlib.Path(options.prompt).read_bytes() if options.prompt else b""
    secret = pathlib.Path(options.secrets).read_bytes() if options.secrets else b""
    command = [os.fsencode(word) for word in options.command]
    reads = "prompt" if options.prompt else "null"
    digest, request = launching.request_file(
        command,
        os.fsencode(options.cwd),
        reads,
        name=os.fsencode(options.name),
        digest=options.digest,
        buffering=options.buffering,
        limits=options.limit,
    )
    nonce = channel.fresh_nonce()
    watch = render.watch(options.interrupt) if options.limit else b""
    data = launching.payload(request, prompt, secret, nonce, options.damage, watch)
    link = channel.open_verb(
        "launch", {"id": options.id, "digest": digest}, options.host, options.deadline, nonce=nonce
    )
    if options.unbidden:
        link.send(data)
    tell(launching.exchange(link, data, options.damage is not None))
    answered = link.elapsed()
    closed = link.close(options.wait_for_close)
    if options.times:
        pathlib.Path(options.times).write_text(f"{answered} {closed if closed else 'open'}\n")
    return 0


def do_follow(options) -> int:
    """Follows a job into a folder."""
    folder = pathlib.Path(options.into)
    late = "yes" if options.late else "no"
    arguments = {"id": options.id, "late": late} | following.position(folder)
    nonce = channel.fresh_nonce()
    if options.nonce_file:
        pathlib.Path(options.nonce_file).write_text(nonce)
    link = channel.open_verb("follow", arguments, options.host, options.deadline, nonce=nonce)
    ends_at = time.monotonic() + options.seconds

    def stops(follower: following.Follower, word: str) -> bool:
        return (
            follower.received >= options.bytes
            or (word != "" and word == options.until)
            or time.monotonic() >= ends_at
        )

    follower = following.Follower(link, folder, stops)
    try:
        print(follower.run())
    finally:
        # Without a goodbye, as a client does that loses its link.
        link.process.kill()
        link.process.wait()
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)

    def verb(function) -> argparse.ArgumentParser:
        added = verbs.add_parser(function.__name__.removeprefix("do_"), help=function.__doc__)
        added.set_defaults(function=function)
        added.add_argument("--host", default=channel.HOST)
        added.add_argument("--deadline", type=float, default=60, help="seconds for the whole reply")
        return added

    for function in (do_render, do_ask):
        added = verb(function)
        added.add_argument("verb")
        added.add_argument("arguments", nargs="*", metavar="name=value")

    launch = verb(do_launch)
    launch.add_argument("--cwd", default="")
    launch.add_argument("--name", default="")
    launch.add_argument("--prompt", help="a file; the job reads it on stdin")
    launch.add_argument("--secrets", help="a file of NAME=VALUE, each ended by a NUL")
    launch.add_argument("--digest", help="in place of the request's own")
    launch.add_argument("--buffering", default="default")
    launch.add_argument("--limit", action="append", default=[], help="a line of the request: timeout=2")
    launch.add_argument("--interrupt", default="no", help="yes: a limit begins with INT")
    launch.add_argument("--times", help="a file for the milliseconds to the answer and to the close")
    launch.add_argument("--wait-for-close", type=float, default=5)
    launch.add_argument("--damage", choices=("short", "long", "checksum"), help="to the payload")
    launch.add_argument("--unbidden", action="store_true", help="send before `ready`: the mistake")
    launch.add_argument("id")
    launch.add_argument("command", nargs=argparse.REMAINDER)

    follow = verb(do_follow)
    follow.add_argument("--into", required=True, help="the folder that keeps the bytes")
    follow.add_argument("--bytes", type=float, default=float("inf"), help="stop after so many")
    follow.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    follow.add_argument("--nonce-file", help="a file for the nonce, by which to find the follower")
    follow.add_argument("--until", help="stop after this word")
    follow.add_argument("--late", action="store_true", help="what came after the end")
    follow.add_argument("id")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    try:
        return options.function(options)
    except channel.Broken as problem:
        sys.stdout.flush()
        print(f"broken: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
