#!/usr/bin/env bats
# shellcheck shell=bats
# However often a job is launched, its command runs once. A run shows as a line that the command
# appends to a file of its own.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

# The command of these jobs; it takes long enough for other launches to find it running.
counting=(sh -c 'echo ran >>"$HOME/ran.$1"; sleep 1' sh)

runs() { grep -c '' "$(home_of host)/ran.$1" 2>/dev/null || true; }

# Launches $2 times at once; the replies are in reply.1, reply.2, ...
launch_at_once() { # ID COUNT LAUNCH-OPTION...
  local id=$1 count=$2 i
  shift 2
  for i in $(seq "$count"); do
    client launch "$@" "$id" "${counting[@]}" "$id" >"$BATS_TEST_TMPDIR/reply.$i" &
  done
  wait
}

@test "08 a job that is launched twice runs once" {
  id=$(new_id)
  launch "$id" "${counting[@]}" "$id"
  run -0 client launch "$id" "${counting[@]}" "$id"
  expect 'the second reply' "$(grep -v begin <<<"$output")" \
    "started again $(started_field "$id" pid) $(started_field "$id" pgid) $(started_field "$id" attempt)"$'\nend'
  ended_with "$id" code 0
  run -0 client launch "$id" "${counting[@]}" "$id"
  grep -q '^started again ' <<<"$output"
  expect runs "$(runs "$id")" 1
}

@test "08 five launches at once with one id run the command once" {
  for round in 1 2 3; do
    id=$(new_id)
    launch_at_once "$id" 5
    expect "new ones in round $round" "$(cat "$BATS_TEST_TMPDIR"/reply.? | grep -c '^started new ')" 1
    expect "others in round $round" "$(cat "$BATS_TEST_TMPDIR"/reply.? | grep -c '^started again ')" 4
    ended_with "$id" code 0
    expect "runs in round $round" "$(runs "$id")" 1
  done
  # The attempts that lost leave nothing behind.
  run ! compgen -G "$(home_of host)/.pocket/jobs/.in.*"
}

@test "08 of two launches at once with different digests one runs and the other is told" {
  for round in 1 2 3; do
    id=$(new_id)
    client launch "$id" "${counting[@]}" "$id" one >"$BATS_TEST_TMPDIR/reply.1" &
    client launch "$id" "${counting[@]}" "$id" two >"$BATS_TEST_TMPDIR/reply.2" &
    wait
    expect "started in round $round" "$(cat "$BATS_TEST_TMPDIR"/reply.? | grep -c '^started new ')" 1
    expect "told in round $round" "$(cat "$BATS_TEST_TMPDIR"/reply.? | grep -c '^error digest ')" 1
    ended_with "$id" code 0
    expect "runs in round $round" "$(runs "$id")" 1
  done
}

@test "08 another request under a known id is refused while it runs and after it" {
  id=$(new_id)
  launch "$id" "${counting[@]}" "$id"
  for when in running ended; do
    run -0 client launch "$id" sh -c 'echo other >>"$HOME/ran.$1"' sh "$id"
    grep -q '^error digest ' <<<"$output" || fail "$when: $output"
    [ "$when" = ended ] || ended_with "$id" code 0
  done
  expect runs "$(runs "$id")" 1
}

@test "08 a payload that is not what was announced starts nothing" {
  for damage in short long checksum; do
    id=$(new_id)
    run -0 client launch --damage "$damage" "$id" "${counting[@]}" "$id"
    grep -q '^error payload ' <<<"$output" || fail "$damage: $output"
    [ ! -e "$(job_folder "$id")" ]
    launch "$id" "${counting[@]}" "$id"
    ended_with "$id" code 0
    expect "runs after $damage" "$(runs "$id")" 1
  done
}

@test "08 a launch that follows a cancel, or a remove, runs nothing" {
  id=$(new_id)
  cancel "$id"
  run -0 client launch "$id" "${counting[@]}" "$id"
  grep -qx cancelled <<<"$output" || fail "after cancel: $output"
  expect 'runs after cancel' "$(runs "$id")" ''
  id=$(new_id)
  launch "$id" "${counting[@]}" "$id"
  ended_with "$id" code 0
  run -0 client ask remove "id=$id"
  grep -qx removed <<<"$output"
  run -0 client launch "$id" "${counting[@]}" "$id"
  grep -qx removed <<<"$output" || fail "after remove: $output"
  expect 'runs after remove' "$(runs "$id")" 1
}

@test "08 launches and cancels at once: the command runs once or the record says cancelled" {
  for round in 1 2 3 4; do
    id=$(new_id)
    cancel "$id" >"$BATS_TEST_TMPDIR/cancelled" &
    launch_at_once "$id" 2
    wait
    grep -qx 'survivors' "$BATS_TEST_TMPDIR/cancelled" || fail "$(cat "$BATS_TEST_TMPDIR/cancelled")"
    if grep -q '^cancelled=' "$(job_folder "$id")/started"; then
      expect "runs in round $round" "$(runs "$id")" ''
    else
      spikes_wait 10 has_record "$id"
      [ -e "$(job_folder "$id")/cancel" ]
      [ "$(runs "$id")" -le 1 ]
    fi
  done
}

# sweep EVERY [OPTION...]
sweep() {
  local every=$1 status=0 folder=$SPIKES_DIR/sweep.$BATS_TEST_NUMBER
  shift
  [ "${POCKET_FULL_SWEEP:-0}" != 1 ] || every=1
  mkdir "$folder"
  timeout 3000 "$SPIKES_PYTHON" "$SPIKES_SOURCE/sweep.py" --every "$every" "$@" "$folder" \
    >"$BATS_TEST_TMPDIR/sweep" 2>&1 3>&- || status=$?
  head -n 2 "$BATS_TEST_TMPDIR/sweep" | sed 's/^/# /' >&3
  [ "$status" = 0 ] || fail "$(cat "$BATS_TEST_TMPDIR/sweep")"
}

@test "08 launch, supervisor and leader killed or stopped at every step, then launched again" {
  sweep 6
}

@test "08 the same of a job with limits, and its watcher too" {
  sweep 16 --limits
}
