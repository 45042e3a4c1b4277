"""Renders a script of shell/ and its arguments into the one remote command of docs/design.md §5.

The same rules as shell/RemoteScript.swift, written a second time so that no spike rests on Swift:
parts named in a script's line `# uses:` come before it, comment lines, empty lines and indentation
go, arguments become assignments in front.
"""

import base64
import os
import pathlib
import re

SHELL_DIR = pathlib.Path(
    os.environ.get("SPIKES_SHELL_DIR") or pathlib.Path(__file__).resolve().parent.parent / "shell"
)
ARGUMENT = re.compile(r"[A-Za-z0-9._:+/=-]*\Z")


def stripped(name: str) -> str:
    """One file's text without comment lines, empty lines and indentation."""
    text = (SHELL_DIR / f"{name}.sh").read_text(encoding="utf-8")
    lines = (line.lstrip(" \t") for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("#"))


def parts(name: str) -> str:
    """What a script's line `# uses:` names."""
    text = (SHELL_DIR / f"{name}.sh").read_text(encoding="utf-8")
    uses = re.search(r"^# uses: (.*)$", text, re.MULTILINE)
    return "".join(stripped(part) for part in (uses.group(1).split() if uses else []))


def quoted(text: str) -> str:
    """`text` as one word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def script(verb: str, arguments: dict[str, str], preamble: str = "") -> str:
    """The whole text that the remote bash runs; `preamble` comes before all parts."""
    for name, value in arguments.items():
        if not ARGUMENT.match(value):
            raise ValueError(f"argument {name} holds what no argument may hold: {value!r}")
    given = dict(arguments)
    before = preamble + parts(verb)
    if verb == "launch":
        # Supervisor and leader are made of the same parts, which go into the command only once.
        given["shared_script"] = before
        given["supervise_script"] = stripped("supervise")
        given["lead_script"] = stripped("lead")
        before = 'eval "$shared_script"\n'
    assignments = "".join(f"{name}={quoted(value)}\n" for name, value in given.items())
    return assignments + before + stripped(verb)


def watch(interrupt: str = "no") -> bytes:
    """The watcher's own text, which follows the secrets of a job that has a limit.

    SPIKES_WATCH_AT: just before the first command that holds this, it leaves a file in its home and
    sends itself the signal SPIKES_WATCH_SIGNAL.
    """
    text = f"interrupt={interrupt}\n" + parts("watch") + stripped("watch")
    if step := os.environ.get("SPIKES_WATCH_AT"):
        act = f': >"$HOME/watcher.$id"; kill -{os.environ["SPIKES_WATCH_SIGNAL"]} $$'
        trap = f'case $BASH_COMMAND in *{quoted(step)}*) [ -e "$HOME/watcher.$id" ] || {{ {act}; }} ;; esac'
        text = f"set -T\ntrap {quoted(trap)} DEBUG\n{text}"
    return text.encode()


def command(text: str, nonce: str) -> str:
    """The command that runs the script `text`, safe in every login shell."""
    encoded = base64.b64encode(text.encode()).decode()
    return (
        "sh -c 'command -v bash >/dev/null || { echo \"$2 nobash\"; exit 127; }; "
        'exec bash -lc "$0" "$(printf %s "$1" | base64 -d)" 7<&0 8>&1 </dev/null 1>&2\' '
        f"'exec bash --norc -p -c \"$0\" pocket' '{encoded}' '{nonce}'"
    )
