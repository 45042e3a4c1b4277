#!/usr/bin/env python3
"""Records the fixtures of this folder: what the real claude and codex print, with their model API
played by mock_api.py. To be run anew when an agent's version moves; the difference tells what did.

    unshare -n sh -c 'ip link set lo up && python3 record.py DIRECTORY_WITH_claude_AND_codex'

Paths of the machine are replaced, and the long lists of the `init` event are cut.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MOCK = HERE.parent.parent / "Support" / "mock_api.py"
CLAUDE = ["claude", "-p", "--output-format", "stream-json", "--verbose"]
BYPASS = ["--permission-mode", "bypassPermissions"]
CODEX = ["--json", "--skip-git-repo-check", "-s", "danger-full-access", "-"]
SLOW_TOOL = '[[bash bash -c "sleep 60; true"]] [[text never]]'

CASES = {
    "claude-korean": (CLAUDE, "[[ko]]"),
    "claude-tools": (
        CLAUDE + BYPASS,
        "[[bash echo hi; seq 3]] [[+bash false]] [[write a.txt 안녕]] [[text done]]",
    ),
    "claude-refused": (CLAUDE, "[[err 400]]"),
    "claude-retried": (CLAUDE, "[[err 529 1]] [[text recovered]]"),
    "claude-limit": (CLAUDE + BYPASS + ["--max-turns", "1"], "[[bash echo a]] [[text never]]"),
    "claude-subagent": (CLAUDE + BYPASS, "[[task {{bash echo in}} {{text sub}}]] [[text out]]"),
    "claude-partial": (CLAUDE + ["--include-partial-messages"], "[[think hm]] [[+text after]]"),
    "claude-unknown": (CLAUDE + ["--resume", "11111111-1111-4111-8111-111111111111"], "hello"),
    "claude-interrupted": (CLAUDE + BYPASS, SLOW_TOOL),
    "codex-korean": (CODEX, "[[ko]]"),
    "codex-tools": (CODEX, "[[bash echo hi]] [[bash false]] [[write b.txt 안녕]] [[text done]]"),
    "codex-refused": (CODEX, "[[err 400]]"),
    "codex-dropped": (CODEX, "[[think hm]] [[+drop half a message that is cut]]"),
    "codex-interrupted": (CODEX, SLOW_TOOL),
}


def environment(home, programs, url):
    return {
        "HOME": str(home),
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "IS_SANDBOX": "1",
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "MOCK_KEY": "dummy",
    }


def codex_settings(url):
    settings = [
        "model_provider=mock",
        'model_providers.mock.name="mock"',
        f'model_providers.mock.base_url="{url}/v1"',
        'model_providers.mock.wire_api="responses"',
        'model_providers.mock.env_key="MOCK_KEY"',
        "analytics.enabled=false",
        "features.plugins=false",
    ]
    return [word for setting in settings for word in ("-c", setting)]


def run(name, words, prompt, work, variables, url):
    if words[0] != "claude":
        words = ["codex", "exec"] + codex_settings(url) + words
    out = work.parent / "out"
    with open(out, "wb") as stdout, subprocess.Popen(
        words, cwd=work, env=variables, stdout=stdout, stdin=subprocess.PIPE, start_new_session=True
    ) as agent:
        agent.stdin.write(prompt.encode())
        agent.stdin.close()
        if prompt == SLOW_TOOL:
            while b"sleep 60" not in out.read_bytes():
                time.sleep(0.1)
            time.sleep(1)
            agent.send_signal(signal.SIGINT)
        print(f"{name}: exit status {agent.wait(timeout=120)}")
    return out.read_bytes()


def shorten(line):
    event = json.loads(line)
    if event.get("subtype") != "init":
        return line
    for key, value in event.items():
        if isinstance(value, list):
            event[key] = value[:1]
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    mock = subprocess.Popen(
        [sys.executable, MOCK, "--attached"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    url = mock.stdout.readline().decode().strip()
    with tempfile.TemporaryDirectory() as home:
        work = pathlib.Path(home) / "project"
        work.mkdir()
        variables = environment(home, programs, url)
        for name, (words, prompt) in CASES.items():
            data = run(name, words, prompt, work, variables, url)
            flat = re.sub("[^A-Za-z0-9]", "-", home)  # as claude names a project's folder
            data = data.replace(home.encode(), b"/home/user")
            data = data.replace(flat.encode(), b"-home-user")
            data = data.replace(url.encode(), b"http://127.0.0.1:1")
            lines = [shorten(line) for line in data.split(b"\n") if line]
            (HERE / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    mock.stdin.close()
    mock.wait(timeout=10)


if __name__ == "__main__":
    main()
