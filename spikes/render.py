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


def body(name: str, preambles: dict[str, str] | None = None) -> str:
    """A script with the parts it uses; its preamble, if it has one, goes before them all."""
    text = (SHELL_DIR / f"{name}.sh").read_text(encoding="utf-8")
    uses = re.search(r"^# uses:(.*)$", text, re.MULTILINE)
    parts = [stripped(part) for part in (uses.group(1).split() if uses else [])]
    preamble = (preambles or {}).get(name)
    return (preamble + "\n" if preamble else "") + "".join(parts) + stripped(name)


def quoted(text: str) -> str:
    """`text` as one word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def script(verb: str, arguments: dict[str, str], preambles: dict[str, str] | None = None) -> str:
    """The whole text that the remote bash runs."""
    for name, value in arguments.items():
        if not ARGUMENT.match(value):
            raise ValueError(f"argument {name} holds what no argument may hold: {value!r}")
    lines = [f"{name}={quoted(value)}" for name, value in arguments.items()]
    if verb == "launch":
        lines.append("supervise_script=" + quoted(body("supervise", preambles)))
        lines.append("lead_script=" + quoted(body("lead", preambles)))
    return "\n".join(lines) + "\n" + body(verb, preambles)


def command(text: str, nonce: str) -> str:
    """The command that runs the script `text`, safe in every login shell."""
    encoded = base64.b64encode(text.encode()).decode()
    return (
        "sh -c 'command -v bash >/dev/null || { echo \"$2 nobash\"; exit 127; }; "
        'exec bash -lc "$0" "$(printf %s "$1" | base64 -d)" 7<&0 8>&1 </dev/null 1>&2\' '
        f"'exec bash -p -c \"$0\" pocket' '{encoded}' '{nonce}'"
    )
