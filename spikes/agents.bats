#!/usr/bin/env bats
# What Pocket relies on in the real `claude` and `codex`, their model API played on loopback.
# Their versions move: when one of these facts does, an adapter in Sources/Agents must follow.
#
# `run --separate-stderr` sets $stderr, which shellcheck cannot know.
# shellcheck disable=SC2154

bats_require_minimum_version 1.5.0

setup_file() {
  export CHECKOUT AGENTS_BIN MOCK_URL
  CHECKOUT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
  AGENTS_BIN=${POCKET_AGENTS_BIN:-$CHECKOUT/.tools/agents/bin}
  agents_are_there || return 0
  mkfifo "$BATS_FILE_TMPDIR/attached"
  python3 "$CHECKOUT/Tests/Support/mock_api.py" --attached --log "$BATS_FILE_TMPDIR/log" \
    <"$BATS_FILE_TMPDIR/attached" >"$BATS_FILE_TMPDIR/url" 3>&- &
  # The mock ends when this process, the last that holds the fifo for writing, ends.
  sleep 900 >"$BATS_FILE_TMPDIR/attached" 3>&- &
  printf '%s\n' $! >"$BATS_FILE_TMPDIR/holder"
  wait_until test -s "$BATS_FILE_TMPDIR/url"
  MOCK_URL=$(cat "$BATS_FILE_TMPDIR/url")
}

teardown_file() {
  [ ! -f "$BATS_FILE_TMPDIR/holder" ] || kill "$(cat "$BATS_FILE_TMPDIR/holder")"
}

setup() {
  agents_are_there ||
    skip "claude and codex are not in $AGENTS_BIN (make agents puts them there)"
  cookie=POCKET_JOB=spike$$x$BATS_TEST_NUMBER
  work=$BATS_TEST_TMPDIR/work
  mkdir -p "$work" "$BATS_TEST_TMPDIR/home"
  cd "$work" || return 1
}

teardown() {
  local pid
  [ -n "${cookie-}" ] || return 0
  for pid in $(carriers); do kill -KILL "$pid" 2>/dev/null || true; done
}

agents_are_there() {
  [ -x "$AGENTS_BIN/claude" ] && [ -x "$AGENTS_BIN/codex" ]
}

# wait_until COMMAND...: until it succeeds; fails after a minute or more.
wait_until() {
  local tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || return 1
    sleep 0.1
  done
}

# agent PROGRAM ARGUMENT...: becomes the program, in an environment that leads it to the mock and
# nowhere else.
agent() {
  exec env -i "$cookie" HOME="$BATS_TEST_TMPDIR/home" PATH=/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 IS_SANDBOX=1 ANTHROPIC_BASE_URL="$MOCK_URL" ANTHROPIC_API_KEY=sk-ant-dummy \
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 MOCK_KEY=dummy \
    "$AGENTS_BIN/$1" "${@:2}"
}

# become PROGRAM [ARGUMENT...]: either agent, with its events on stdout, and ours before the
# arguments that Pocket gives it.
become() {
  case $1 in
  claude) agent claude -p --output-format stream-json --verbose "${@:2}" ;;
  codex)
    agent codex exec -c model_provider=mock -c 'model_providers.mock.name="mock"' \
      -c "model_providers.mock.base_url=\"$MOCK_URL/v1\"" \
      -c 'model_providers.mock.wire_api="responses"' \
      -c 'model_providers.mock.env_key="MOCK_KEY"' \
      -c analytics.enabled=false -c features.plugins=false --json "${@:2}"
    ;;
  esac
}

# become_unguarded PROGRAM: the same, with all tools allowed and the prompt on stdin.
become_unguarded() {
  case $1 in
  claude) become claude --permission-mode bypassPermissions ;;
  codex) become codex --skip-git-repo-check -s danger-full-access - ;;
  esac
}

claude() { (become claude "$@"); }
codex() { (become codex "$@"); }

# start PROGRAM PROMPT: in the background, leading a process group; its id in $leader.
start() {
  printf '%s' "$2" >prompt
  set -m
  become_unguarded "$1" <prompt >out 2>err 3>&- &
  leader=$!
  set +m
}

# A tool that runs on for minutes, and a grandchild of it.
slow_tool='[[bash bash -c "sleep 321 & sleep 322; true"]] [[text never]]'

has_started_tool() { [ "$(carriers_named 'sleep' | wc -l)" -ge 2 ]; }

# The living processes with this test's cookie in their environment.
carriers() {
  local entry pid state
  for entry in /proc/[0-9]*/environ; do
    tr '\0' '\n' 2>/dev/null <"$entry" | grep -qx "$cookie" 2>/dev/null || continue
    pid=${entry#/proc/}
    pid=${pid%/environ}
    state=$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) || continue
    [ "$state" = Z ] || printf '%s\n' "$pid"
  done
}

carriers_named() {
  local pid
  for pid in $(carriers); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || printf '%s\n' "$pid"
  done
}

no_carriers() { [ -z "$(carriers)" ]; }

# session_of PID
session_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 4; }

needs_proc() { [ -r /proc/self/environ ] || skip 'there is no /proc'; }

new_uuid() { python3 -c 'import uuid; print(uuid.uuid4())'; }

# How many turns of the conversation the newest request to the model API held.
last_turns() { tail -n 1 "$BATS_FILE_TMPDIR/log" | sed 's/.*"turns": //; s/[^0-9].*//'; }

# field NAME: the string members of this name in the JSON lines on stdin.
field() { grep -o "\"$1\":\"[^\"]*\"" | cut -d '"' -f 4; }

@test "claude prints events only with --verbose" {
  echo hello >prompt
  run -1 --separate-stderr agent claude -p --output-format stream-json <prompt
  [[ $stderr == *--verbose* ]]
  [ -z "$output" ]
  run -0 claude <prompt
  [[ $output == *'Mock reply to: hello'* ]]
}

@test "claude takes our session id, and refuses it a second time" {
  id=$(new_uuid)
  echo hello >prompt
  run -0 claude --session-id "$id" <prompt
  [ "$(field session_id <<<"$output" | sort -u)" = "$id" ]
  run -1 --separate-stderr claude --session-id "$id" <prompt
  [ -z "$output" ]
  [[ $stderr == *'already in use'* ]]
}

@test "claude accepts a sentence for its system prompt, and the user's own beside it" {
  echo hello >prompt
  run -0 claude --append-system-prompt 'Wait for it; "quoted".' --append-system-prompt mine <prompt
}

@test "both read a prompt from a file on stdin and take nothing in it for an option or a command" {
  printf '%s' '--help $(touch ran) `touch ran` "두 줄"' >prompt
  for program in claude codex; do
    run -0 --separate-stderr become_unguarded "$program" <prompt
    [[ $output == *'Mock reply to: --help $(touch ran) `touch ran` \"두 줄\"'* ]]
  done
  echo resume >prompt
  run -0 --separate-stderr become_unguarded codex <prompt
  [[ $output == *'Mock reply to: resume'* ]]
  [ ! -e ran ]
}

@test "codex runs outside git only with --skip-git-repo-check" {
  echo hello >prompt
  run -1 --separate-stderr codex - <prompt
  [ -z "$output" ]
  [[ $stderr == *skip-git-repo-check* ]]
  run -0 --separate-stderr codex --skip-git-repo-check - <prompt
  [[ $output == *'Mock reply to: hello'* ]]
}

@test "codex waits for the end of stdin, even with a prompt among its arguments" {
  mkfifo open
  sleep 300 >open 3>&- &
  holder=$!
  codex --skip-git-repo-check hello <open >out 2>err 3>&- &
  wait_until grep -q 'Reading additional input' err
  sleep 3
  [ ! -s out ]
  kill "$holder"
  wait_until grep -q 'Mock reply to: hello' out
}

@test "codex writes U+2028 as it is, in the middle of a line" {
  printf '[[ko]]' >prompt
  codex --skip-git-repo-check - <prompt >out 2>err
  grep -q "$(printf '\342\200\250')줄구분" out
}

@test "an agent session is continued by its id" {
  printf 'first' >prompt
  id=$(claude <prompt | field session_id | sort -u)
  turns=$(last_turns)
  printf 'second' >prompt
  claude --resume "$id" <prompt >out
  [ "$(field session_id <out | sort -u)" = "$id" ]
  [ "$(last_turns)" -gt "$turns" ]

  printf 'third' >prompt
  thread=$(codex --skip-git-repo-check - <prompt 2>err | field thread_id)
  turns=$(last_turns)
  printf 'fourth' >prompt
  # The session's id goes where the user's own arguments go: before the `-`.
  codex --skip-git-repo-check resume "$thread" - <prompt >out 2>err
  [ "$(field thread_id <out)" = "$thread" ]
  grep -q 'Mock reply to: fourth' out
  [ "$(last_turns)" -gt "$turns" ]
}

@test "INT: claude writes its result, exits with 0 and ends its tools" {
  needs_proc
  start claude "$slow_tool"
  wait_until has_started_tool
  kill -INT "$leader"
  code=0
  wait "$leader" || code=$?
  [ "$code" -eq 0 ]
  grep '"type":"result"' out | grep -q '"is_error":true'
  wait_until no_carriers
}

@test "INT: codex writes nothing, exits with 1 and ends its tools with all they started" {
  needs_proc
  start codex "$slow_tool"
  wait_until has_started_tool
  kill -INT "$leader"
  code=0
  wait "$leader" || code=$?
  [ "$code" -eq 1 ]
  run -1 grep 'turn\.' <(grep -v 'turn.started' out)
  wait_until no_carriers
}

@test "a tool has a session of its own, carries the cookie, and survives KILL of the group" {
  needs_proc
  for program in claude codex; do
    start "$program" "$slow_tool"
    wait_until has_started_tool
    sessions=$(for pid in $(carriers_named sleep); do session_of "$pid"; done | sort -u)
    [ "$sessions" != "$(session_of "$leader")" ]
    kill -KILL -- "-$leader"
    wait "$leader" || true
    sleep 1
    survivors=$(carriers_named sleep)
    [ -n "$survivors" ]
    for pid in $(carriers); do kill -KILL "$pid"; done
    wait_until no_carriers
  done
}
