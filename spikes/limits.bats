#!/usr/bin/env bats
# shellcheck shell=bats
# What a job is held to by its host: a time, and a size of its output. Nobody is connected meanwhile.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

# limited LIMIT... -- ID COMMAND...: a launch with these lines in its request.
limited() {
  local limits=()
  while [ "$1" != -- ]; do
    limits+=(--limit "$1")
    shift
  done
  shift
  launch "${limits[@]}" "$@"
}

watchers() { pgrep -f "^bash --norc -p -c eval .* pocket-watch $(job_folder "$1")" || true; }
has_no_watcher() { [ -z "$(watchers "$1")" ]; }
is_capped() { [ -e "$(job_folder "$1")/capped.$2" ]; }
capped_size() { sed -n 's/^size=\([0-9]*\) end *$/\1/p' "$(job_folder "$1")/capped.$2"; }

# ends_with_marker FILE STREAM THEN
ends_with_marker() {
  tail -n 1 "$1" | "$SPIKES_PYTHON" -c '
import json, sys
line = json.loads(sys.stdin.read())
assert line["pocket"] == "output-limit" and [line["stream"], line["then"]] == sys.argv[1:], line' "$2" "$3"
}

@test "24 dd cuts a file back at a byte, and leaves one alone that others append to" {
  for dd in dd 'busybox dd'; do
    command -v "${dd%% *}" >/dev/null || continue
    printf 0123456789 >"$BATS_TEST_TMPDIR/file"
    exec 4>>"$BATS_TEST_TMPDIR/file"
    $dd if=/dev/null of="$BATS_TEST_TMPDIR/file" bs=1 seek=4 count=0 2>/dev/null
    expect "what $dd leaves" "$(cat "$BATS_TEST_TMPDIR/file")" 0123
    printf ab >&4
    expect "what is appended after $dd" "$(cat "$BATS_TEST_TMPDIR/file")" 0123ab
    exec 4>&-
  done
}

@test "24 a descriptor for appending tells where its own last write ended, whatever others append" {
  cat >"$BATS_TEST_TMPDIR/position.sh" <<'SH'
exec 5>>"$1"
printf 12345 >&5
printf 'of another' >>"$1"
while read -r key value; do [ "$key" != pos: ] || echo "$value"; done </proc/self/fdinfo/5
SH
  printf abc >"$BATS_TEST_TMPDIR/file"
  expect position "$(bash "$BATS_TEST_TMPDIR/position.sh" "$BATS_TEST_TMPDIR/file")" 8
}

@test "24 a job that takes too long is ended, with its whole tree, and the record says so" {
  id=$(new_id)
  limited timeout=2 -- "$id" sh -c 'trap "" TERM; setsid sleep 1000 & sleep 1000 & while :; do sleep 1; done'
  watcher=$(watchers "$id")
  [ -n "$watcher" ]
  [ "$(ps -o pgid= -p "$watcher" | tr -d ' ')" != "$(started_field "$id" pgid)" ]
  run ! grep -qzxF "POCKET_JOB=$id" "/proc/$watcher/environ"
  ended_with "$id" signal 9
  expect limit "$(record_field "$id" limit)" timeout
  spikes_wait 10 has_no_watcher "$id"
  expect 'carriers of the cookie' "$(with_environment "POCKET_JOB=$id")" ''
  run ! compgen -G "$(job_folder "$id")/.watch*"
}

@test "24 where an agent wants it, a limit begins with INT, which lets it say what it has cost" {
  id=$(new_id)
  launch --interrupt yes --limit timeout=1 "$id" sh -c 'trap "echo result; exit 3" INT; while :; do sleep 0.1; done'
  ended_with "$id" code 3
  expect 'limit and out' "$(record_field "$id" limit) $(cat "$(job_folder "$id")/out.jsonl")" 'timeout result'
}

@test "24 a job that ends in time has an end of its own, and no watcher stays" {
  for code in 0 3 137; do
    id=$(new_id)
    limited timeout=3600 max_output=1000000 -- "$id" sh -c "sleep 0.5; exit $code"
    ended_with "$id" code "$code"
    expect limit "$(record_field "$id" limit)$(record_field "$id" capped)" ''
    spikes_wait 10 has_no_watcher "$id"
  done
  id=$(new_id)
  limited timeout=3600 -- "$id" sh -c 'sleep 0.5; kill -KILL $$'
  ended_with "$id" signal 9
}

@test "24 output beyond the limit ends the job: a marker is the last line, and followers have the same" {
  id=$(new_id)
  limited max_output=100000 on_max_output=stop -- "$id" \
    sh -c 'while :; do printf "%01000d\n" 1; sleep 0.01; done'
  spikes_wait 60 follow_all "$id" "$BATS_TEST_TMPDIR/kept" || fail 'the follower has no end'
  expect limit "$(record_field "$id" limit) $(record_field "$id" capped)" 'output out'
  expect 'size in the record' "$(record_field "$id" out)" "$(capped_size "$id" out)"
  ends_with_marker "$BATS_TEST_TMPDIR/kept/out.0" out stop
  # What was written behind the marker is cut off at the end.
  spikes_wait 20 has_no_watcher "$id"
  same_bytes 'what was followed' "$BATS_TEST_TMPDIR/kept/out.0" "$(job_folder "$id")/out.jsonl"
  run ! grep -q ' late ' "$BATS_TEST_TMPDIR/kept/events"
}

@test "24 output beyond the limit is discarded while the job goes on, and its other stream is not" {
  id=$(new_id)
  # One writer is in a session of its own.
  limited max_output=100000 on_max_output=discard -- "$id" sh -c '
    setsid sh -c "while [ ! -e \$HOME/go ]; do printf \"%01000d\n\" 2; sleep 0.01; done" &
    while [ ! -e $HOME/go ]; do printf "%01000d\n" 1; sleep 0.01; done
    echo done >&2; exit 4'
  spikes_wait 30 is_capped "$id" out
  last=0
  has_shrunk() {
    local size
    size=$(size_of "$id" out.jsonl)
    [ "$size" -ge "$last" ] || return 0
    last=$size
    return 1
  }
  spikes_wait 30 has_shrunk || fail 'what is written after the limit stays'
  follow_all "$id" "$BATS_TEST_TMPDIR/kept" --until beat
  ends_with_marker "$BATS_TEST_TMPDIR/kept/out.0" out discard
  : | put host go
  ended_with "$id" code 4
  rm "$(home_of host)/go"
  expect limit "$(record_field "$id" limit)-$(record_field "$id" capped)" '-out'
  expect 'sizes' "$(record_field "$id" out) $(record_field "$id" err)" "$(capped_size "$id" out) 5"
  follow_all "$id" "$BATS_TEST_TMPDIR/kept"
  spikes_wait 10 has_no_watcher "$id"
  same_bytes 'what was followed' "$BATS_TEST_TMPDIR/kept/out.0" "$(job_folder "$id")/out.jsonl"
  expect err "$(cat "$BATS_TEST_TMPDIR/kept/err.0")" 'done'
  inspect "$id" | grep -q "^size out $(capped_size "$id" out) "
}

@test "24 on a full disk a stream is ended all the same" {
  need_root 'mounts a tmpfs'
  disk=$(home_of host)/.pocket
  rm -rf "$disk"
  mkdir "$disk"
  mount -t tmpfs -o size=4m tmpfs "$disk"
  chown --reference="$(home_of host)" "$disk"
  id=$(new_id)
  limited max_output=1000000 on_max_output=discard -- "$id" sh -c '
    cat /dev/zero 2>/dev/null; until [ -e .pocket/jobs/$POCKET_JOB/capped.out ]; do sleep 0.1; done; exit 5'
  spikes_wait 60 follow_all "$id" "$BATS_TEST_TMPDIR/kept" || fail 'the follower has no end'
  ended_with "$id" code 5
  expect 'what was cut' "$(record_field "$id" capped) $(record_field "$id" out)" "out $(capped_size "$id" out)"
  spikes_wait 20 has_no_watcher "$id"
  same_bytes 'what was followed' "$BATS_TEST_TMPDIR/kept/out.0" "$(job_folder "$id")/out.jsonl"
}

teardown() {
  [ -n "${disk:-}" ] || return 0
  umount "$disk" 2>/dev/null || umount -l "$disk" 2>/dev/null || true
  rm -rf "$disk"
}

@test "24 a writer that was stopped all the while is ended by the limit too" {
  id=$(new_id)
  limited max_output=1000 on_max_output=stop -- "$id" \
    sh -c 'sh -c "printf %02000d 1; kill -STOP \$\$; printf %02000d 2" & sleep 1000'
  ended_with "$id" signal 15
  spikes_wait 20 has_no_watcher "$id"
  ends_with_marker "$(job_folder "$id")/out.jsonl" out stop
}

# The steps at which a limit on output is carried out, by a part of each command.
# shellcheck disable=SC2016
steps=(
  'prepare' 'ln "$prepared/output"' 'exec 5>>' "printf '\\n{" 'read -r key' "printf '%-39s"
  'ln "$prepared/capped' 'dd if=/dev/null' 'ln "$prepared/$1" "$job/limit"' 'send TERM'
)

# Runs a job whose watcher gets a signal at a step, and compares what was followed with what there is.
signalled() { # SIGNAL STEP THEN
  local kept
  id=$(new_id)
  kept=$BATS_TEST_TMPDIR/kept.$id
  SPIKES_WATCH_SIGNAL=$1 SPIKES_WATCH_AT=$2 limited max_output=20000 "on_max_output=$3" -- "$id" sh -c '
    trap "" TERM; i=0
    while [ $i -lt 150 ]; do printf "%0999d\n" 1; sleep 0.02; i=$((i + 1)); done; exit 6'
  # A follower that is in the middle of a frame when the stream is ended follows again.
  spikes_wait 60 follow_all "$id" "$kept" 2>/dev/null || fail "$1 at $2: the follower has no end"
  [ -e "$(home_of host)/watcher.$id" ] || fail "the watcher never came to $2"
  ended_with "$id" code 6
  head -c "$(record_field "$id" out)" "$(job_folder "$id")/out.jsonl" >"$kept/wanted"
  same_bytes "what was followed ($1 at $2)" "$kept/out.0" "$kept/wanted"
  expect "size ($1 at $2)" "$(wc -c <"$kept/out.0")" "$(record_field "$id" out)"
}

@test "24 whoever kills the watcher, at any step, ends its limit and nothing else" {
  for step in "${steps[@]}"; do
    then=stop
    [ "$step" != 'dd if=/dev/null' ] || then=discard
    signalled KILL "$step" $then
    run ! grep -q ' gap ' "$BATS_TEST_TMPDIR/kept.$id/events"
  done
}

@test "24 nothing is sent of a stream while it is not yet said where it ends" {
  id=$(new_id)
  SPIKES_WATCH_SIGNAL=STOP SPIKES_WATCH_AT='exec 5>>' limited max_output=20000 on_max_output=stop \
    -- "$id" sh -c 'while :; do printf "%0999d\n" 1; sleep 0.02; done'
  spikes_wait 20 [ -e "$(home_of host)/watcher.$id" ]
  run -0 client follow --seconds 3 --into "$BATS_TEST_TMPDIR/kept" "$id"
  expect "bytes sent" "$(wc -c <"$BATS_TEST_TMPDIR/kept/out.0")" 0
  cancel "$id" grace=1 >/dev/null
  ended_with "$id" signal 15
  follow_all "$id" "$BATS_TEST_TMPDIR/kept"
  expect 'size of what was sent in the end' "$(wc -c <"$BATS_TEST_TMPDIR/kept/out.0")" "$(record_field "$id" out)"
}

@test "24 a watcher that was stopped in the middle is not waited for without end" {
  signalled STOP 'exec 5>>' stop
  spikes_wait 5 has_no_watcher "$id"
}
