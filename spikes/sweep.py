"""Kills, or stops and continues, launch, supervisor, leader and watcher at every step; then launches
again.

A step is a command that bash is about to run, seen by a DEBUG trap in front of each script; its name
is `<commands of the script's own process so far>.<commands of the subshell it is in>`. Each case is
a job of its own whose command appends one line to a file of its own: after the case that file holds
one line, or the exit record says that the leader was killed before it could become the command. The
scripts run without ssh, in the same `sh -c` form.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import secrets
import signal
import sys
import threading
import time

import channel
import launching
import render

FEWEST_STEPS = 200
DEADLINE = 60  # seconds for one launch
TRAP = """set -T
spike_main=0 spike_sub=0
trap 'if [ "$BASHPID" = $$ ]; then spike_main=$((spike_main + 1)) spike_sub=0
else spike_sub=$((spike_sub + 1)); fi
ACT' DEBUG"""
# The three scripts begin with the same parts; what they are called tells them apart.
CALLED = {"pocket": "launch", "pocket-supervise": "supervise", "pocket-lead": "lead"}
# With limits there is a watcher too; these are never reached.
LIMITS = ["timeout=3600", "max_output=1000000", "on_max_output=stop"]


@dataclasses.dataclass(frozen=True)
class Case:
    action: str
    role: str
    step: str

    def __str__(self) -> str:
        return f"{self.action} {self.role} at {self.step}"


def recording(folder: pathlib.Path) -> str:
    """A preamble that writes down every step."""
    line = f'echo "$spike_main.$spike_sub" >>"{folder}/steps.$0"'
    return TRAP.replace("ACT", line) + "\n"


def acting(case: Case, called: str, flag: pathlib.Path) -> str:
    """A preamble that acts at the case's step, on the script's process and the subshell it is in."""
    name = {"kill": "KILL", "stop": "STOP"}[case.action]
    act = (
        # The parts of a pipeline count alike: the first that comes to the step is the one.
        f'if [ "$spike_main.$spike_sub" = {case.step} ] && mkdir "{flag}.once" 2>/dev/null; then '
        f'echo "$$ $BASHPID" >"{flag}.new"; mv "{flag}.new" "{flag}"; kill -{name} $$; '
        f'[ "$BASHPID" = $$ ] || kill -{name} "$BASHPID"; fi'
    )
    return f'if [ "$0" = {called} ]; then\n{TRAP.replace("ACT", act)}\nfi\n'


class Sweep:
    def __init__(self, home: pathlib.Path, limited: bool):
        self.home = home
        self.limits = LIMITS if limited else []
        self.called = CALLED | ({"pocket-watch": "watch"} if limited else {})
        self.token = secrets.token_hex(8)
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
        }
        for folder in ("ran", "flag", "steps"):
            (home / folder).mkdir()

    def job(self, id: str) -> pathlib.Path:
        return self.home / ".pocket/jobs" / id

    def launch(self, id: str, preamble: str = "") -> list[list[str]]:
        """One launch, to its end line; empty when it had none."""
        command = ["sh", "-c", 'echo ran; echo ran >>"$HOME/ran/$1"', "sh", id]
        digest, request = launching.request_file(
            [os.fsencode(word) for word in command], limits=self.limits
        )
        nonce = channel.fresh_nonce()
        watch = render.watch() if self.limits else b""
        data = launching.payload(request, b"", b"", nonce, watch=watch)
        arguments = {"nonce": nonce, "id": id, "digest": digest}
        text = render.command(render.script("launch", arguments, preamble), nonce)
        environment = self.environment | {"SPIKES_SWEEP": f"{self.token}.{id}"}
        link = channel.Channel(["sh", "-c", text], nonce, DEADLINE, environment)
        try:
            return launching.exchange(link, data)
        except channel.Broken:
            return []
        finally:
            link.process.kill()
            link.process.wait()
            link.process.stdin.close()
            link.process.stdout.close()

    def steps(self) -> dict[str, list[str]]:
        """Every step of an undisturbed launch."""
        id = "recorded0000"
        self.launch(id, recording(self.home / "steps"))
        self.wait_for_record(id)
        wait_for(lambda: not self.living(id), 10)
        found = {}
        for called, role in self.called.items():
            lines = (self.home / "steps" / f"steps.{called}").read_text().split()
            found[role] = list(dict.fromkeys(lines))
        return found

    def wait_for_record(self, id: str) -> None:
        wait_for(lambda: b" end" in read(self.job(id) / "exit"), 10)

    def run(self, number: int, case: Case) -> str:
        """Empty when the case went as it must, else what was wrong; `missed` when it never came."""
        id = f"sweep{number:07d}"
        flag = self.home / "flag" / id
        called = next(name for name, role in self.called.items() if role == case.role)
        first = threading.Thread(target=self.launch, args=(id, acting(case, called, flag)))
        first.start()
        wait_for(lambda: flag.exists() or not first.is_alive(), 2 * DEADLINE)
        if not flag.exists():
            first.join()
            # A launch has answered before its supervisor takes its last steps.
            wait_for(lambda: flag.exists() or not self.living(id), DEADLINE)
        if not flag.exists():
            return "missed"
        if case.action == "stop":
            # The flag comes before the stop; a process that came to it after the SIGCONT below would
            # stay there for good.
            pids = set(map(int, flag.read_text().split()))
            if not wait_for(lambda: all(state(pid) in ("", "T", "X", "Z") for pid in pids), DEADLINE):
                return f"{pids} did not stop"
        again = self.launch(id)
        if case.action == "stop":
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        first.join()
        last = self.launch(id)
        if ["started", "again"] not in [fields[:2] for fields in last]:
            return f"the last launch said {last}, the one before it {again}"
        return ""

    def verdict(self, number: int, case: Case) -> str:
        """What the files say when all processes have ended; empty when it is as it must be."""
        id = f"sweep{number:07d}"
        ran = read(self.home / "ran" / id)
        out = read(self.job(id) / "out.jsonl")
        record = read(self.job(id) / "exit").decode().strip()
        if ran == out == b"ran\n":
            # Only who loses its supervisor has no record.
            if record.endswith(" end") or (case.action, case.role) == ("kill", "supervise"):
                return ""
            return f"ran once, but has no exit record: {record!r}"
        killed_itself = (case.action, case.role) == ("kill", "lead")
        if ran == out == b"" and killed_itself and " how=signal status=9 " in record:
            return ""
        return f"the command ran {ran.count(b'ran')} times, out.jsonl {out!r}, record {record!r}"

    def living(self, id: str = "") -> list[str]:
        """Every process of a case, or of all: its id, its state and what it runs."""
        entry = f"SPIKES_SWEEP={self.token}.{id}".encode()
        return [
            f"{path.name} {state(int(path.name))} {read(path / 'cmdline')[-200:]!r}"
            for path in processes()
            if entry in read(path / "environ")
        ]


def processes():
    return [path for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]


def state(pid: int) -> str:
    """As proc(5) has it in `stat`, after the name, which may itself hold spaces; empty when gone."""
    fields = read(pathlib.Path(f"/proc/{pid}/stat")).rpartition(b") ")[2].split()
    return fields[0].decode() if fields else ""


def read(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def wait_for(condition, seconds: float) -> bool:
    stop = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > stop:
            return False
        time.sleep(0.02)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=pathlib.Path, help="an empty folder to use as HOME")
    parser.add_argument("--every", type=int, default=1, help="try each so-manieth step only")
    parser.add_argument("--limits", action="store_true", help="of jobs that have a watcher")
    parser.add_argument("--workers", type=int, default=16)
    options = parser.parse_args()
    sweep = Sweep(options.home, options.limits)
    steps = sweep.steps()
    count = sum(map(len, steps.values()))
    print(f"{count} steps: " + ", ".join(f"{role} {len(steps[role])}" for role in steps))
    if count < FEWEST_STEPS:
        print(f"fewer than {FEWEST_STEPS}: the trap does not see what it should")
        return 1
    every = [Case(action, role, step) for role in steps for step in steps[role] for action in ("kill", "stop")]
    # The two actions at one step lie side by side: an even stride would only ever see one of them.
    cases = [case for index, case in enumerate(every) if index // 2 % options.every == 0]
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        said = list(pool.map(sweep.run, range(len(cases)), cases))
    problems = []
    if not wait_for(lambda: not sweep.living(), 60):
        problems += ["processes of the sweep still live:", *sweep.living()]
    tried = collections.Counter()
    for number, case in enumerate(cases):
        if said[number] == "missed":
            tried["missed"] += 1
            continue
        tried[case.action] += 1
        problem = said[number] or sweep.verdict(number, case)
        if problem:
            problems.append(f"{case}: {problem}")
    print(f"{len(cases)} cases in {time.monotonic() - begun:.0f} s: {dict(tried)}")
    # Loops that wait turn a varying number of times, so a few of the recorded steps never come.
    if tried["missed"] * 10 > len(cases):
        problems.append(f"{tried['missed']} steps were never reached")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
