#!/usr/bin/env bats
# shellcheck shell=bats
# An agent session is continued by its id, one job a turn. The agent is a scripted stand-in that keeps
# its conversations as the real ones do: by session id, in files below the home.

load harness.bash
load jobs.bash

setup_file() {
  spikes_start
  put host .local/bin/stand-in 755 <<'AGENT'
#!/bin/bash
# stand-in (--session-id ID | --resume ID): the prompt comes on stdin, one JSON object a line goes out.
conversation=$HOME/.stand-in/$2
say() { printf '{"type":"%s","session_id":"%s","text":"%s"}\n' "$1" "$session" "$2"; }
session=$2
mkdir -p "$HOME/.stand-in"
case $1 in
  --session-id) [ ! -e "$conversation" ] || { echo "Session ID $2 is already in use." >&2; exit 1; } ;;
  --resume) [ -e "$conversation" ] || { say result "No conversation found with session ID: $2"; exit 1; } ;;
esac
cat >>"$conversation"
say init "$PWD"
while IFS= read -r line; do last=$line; say user "$line"; done <"$conversation"
trap 'say result interrupted; exit 0' INT
case $last in *slowly*) sleep 1000 & wait ;; esac
say result "$(grep -c '' "$conversation") lines so far"
AGENT
  # shellcheck disable=SC2016
  printf 'PATH=$HOME/.local/bin:$PATH\n' | put host .bash_profile
  mkdir "$SPIKES_DIR/home/bash/project"
  chown --reference="$SPIKES_DIR/home/bash" "$SPIKES_DIR/home/bash/project"
}
teardown_file() { spikes_stop; }

# turn ID PROMPT ARGUMENT...: one job, to its end.
turn() {
  local id=$1
  printf '%s\n' "$2" >"$BATS_TEST_TMPDIR/prompt"
  shift 2
  client launch --cwd project --prompt "$BATS_TEST_TMPDIR/prompt" "$id" stand-in "$@" >/dev/null
  spikes_wait 15 has_record "$id"
  follow_all "$id" "$BATS_TEST_TMPDIR/kept.$id"
}

said() { cat "$BATS_TEST_TMPDIR/kept.$1/out.0"; }

@test "22 an agent session is continued by its id in a job of its own" {
  session=11111111-2222-4333-8444-555555555555
  first=$(new_id) second=$(new_id) third=$(new_id)
  turn "$first" '안녕' --session-id "$session"
  ended_with "$first" code 0
  turn "$second" 'and more' --resume "$session"
  ended_with "$second" code 0
  said "$second" | grep -q "\"user\",\"session_id\":\"$session\",\"text\":\"안녕\""
  said "$second" | grep -q '2 lines so far'
  # Same folder: an agent looks its conversations up by it.
  said "$second" | grep -q '"init".*/project"'
  turn "$third" 'a third' --resume "$session"
  said "$third" | grep -q '3 lines so far'
}

@test "22 what the agent says of an unknown or used session id arrives, with its exit code" {
  session=aaaaaaaa-2222-4333-8444-555555555555
  id=$(new_id)
  turn "$id" 'hello' --resume "$session"
  ended_with "$id" code 1
  said "$id" | grep -q 'No conversation found'
  id=$(new_id)
  turn "$id" 'hello' --session-id "$session"
  ended_with "$id" code 0
  id=$(new_id)
  turn "$id" 'hello' --session-id "$session"
  ended_with "$id" code 1
  expect out "$(said "$id")" ''
  grep -q 'already in use' "$BATS_TEST_TMPDIR/kept.$id/err.0"
}

@test "22 a session whose turn was cancelled is continued" {
  session=bbbbbbbb-2222-4333-8444-555555555555
  id=$(new_id)
  printf 'think slowly\n' >"$BATS_TEST_TMPDIR/prompt"
  client launch --cwd project --prompt "$BATS_TEST_TMPDIR/prompt" "$id" stand-in --session-id "$session" >/dev/null
  spikes_wait 5 has_bytes "$id" out.jsonl 60
  run -0 cancel "$id" interrupt=yes
  grep -qx survivors <<<"$output" || fail "$output"
  expect 'the record' "$(record_field "$id" status) $(record_field "$id" cancel)" '0 yes'
  grep -q '"result".*interrupted' "$(job_folder "$id")/out.jsonl"
  id=$(new_id)
  turn "$id" 'go on' --resume "$session"
  said "$id" | grep -q '2 lines so far'
}
