#!/usr/bin/env bats
# shellcheck shell=bats
# Cancel ends all that a job started, proves it, and touches nothing else.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

teardown() {
  if [ -n "${stranger:-}" ]; then kill -KILL "$stranger" 2>/dev/null || true; fi
}

# Everything the job of these tests starts carries this, beside Pocket's own cookie.
mark() { printf 'SPIKE_MARK=%s\n' "$1"; }

living() { with_environment "$(mark "$1")"; }

# Runs a cancel, whose reply is in $reply then, and wants to hear that nothing survived.
cancelled() { # ID ARGUMENT...
  run -0 cancel "$@"
  reply=$output
  grep -qx survivors <<<"$reply" || fail "$reply"
}

has_living() { [ "$(living "$1" | wc -l)" = "$2" ]; }

@test "04 cancel leaves no child, grandchild, nor descendant that called setsid" {
  id=$(new_id)
  put host tree.sh <<'TREE'
export SPIKE_MARK=$1
sleep 1000 &
sh -c 'sleep 1000 & sh -c "sleep 1000 & wait" & wait' &
setsid sh -c 'sleep 1000 & wait' &
setsid nohup sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done' >/dev/null 2>&1 &
(setsid sh -c 'sleep 1000 & exec setsid sleep 1000' &)
bash -c 'set -m; sleep 1000 & sleep 1000 & wait' &
sh -c 'kill -STOP $$' &
wait
TREE
  launch "$id" sh tree.sh "$id"
  # Eight sleeps, five shells that wait, the deaf one with its own sleep, and the stopped one... at
  # least so many must have been there for their end to prove anything.
  spikes_wait 10 eval '[ "$(living "$id" | wc -l)" -ge 14 ]'
  cancelled "$id" grace=1
  expect 'what lives' "$(living "$id")" ''
  expect 'carriers of the cookie' "$(with_environment "POCKET_JOB=$id")" ''
  expect 'the record' "$(record_field "$id" how) $(record_field "$id" cancel)" 'signal yes'
}

@test "04 cancel ends a tree whose leader is dead and whose supervisor is too" {
  id=$(new_id)
  launch "$id" env "$(mark "$id")" sh -c 'sleep 1000 & setsid sleep 1000 & sleep 1000'
  spikes_wait 5 has_living "$id" 4
  kill -KILL "$(started_field "$id" supervisor)" "$(started_field "$id" pid)"
  spikes_wait 5 has_living "$id" 3
  cancelled "$id"
  expect 'what lives' "$(living "$id")" ''
}

@test "04 cancel twice, and after the end, is no error and signals nothing" {
  id=$(new_id)
  launch "$id" sleep 1000
  cancelled "$id"
  run -0 cancel "$id"
  reply=$output
  grep -qx 'leftover' <<<"$reply" || fail "$reply"
  run ! grep -q '^step [A-Z]' <<<"$reply"
  grep -q '^exit .* cancel=yes end$' <<<"$reply"
}

@test "04 a job that has ended is not cancelled: its remains are listed, and ended only when told" {
  id=$(new_id)
  launch "$id" env "$(mark "$id")" sh -c 'setsid sleep 1000 & sleep 1000 & exit 6'
  ended_with "$id" code 6
  expect 'how many live' "$(living "$id" | wc -l)" 2
  run -0 cancel "$id" leftovers=list
  expect leftover "$(sed -n 's/^leftover //p' <<<"$output" | tr ' ' '\n' | sort)" "$(living "$id" | sort)"
  expect 'how many live after list' "$(living "$id" | wc -l)" 2
  run -0 cancel "$id" leftovers=end
  grep -qx leftover <<<"$output" || fail "$output"
  expect 'what lives after end' "$(living "$id")" ''
  expect 'the record' "$(record_field "$id" status) $(record_field "$id" cancel)" '6 no'
}

@test "04 a job that was never started is cancelled for good" {
  id=$(new_id)
  cancelled "$id"
  grep -q '^evidence directory=present start=cancelled ' <<<"$reply"
}

# A process of the same user that is not the job's.
start_stranger() {
  remote host 'sleep 1000 </dev/null >/dev/null 2>&1 & echo $!' >"$BATS_TEST_TMPDIR/stranger"
  read -r stranger <"$BATS_TEST_TMPDIR/stranger"
  lives "$stranger"
}

@test "04 cancel never signals a process that is not the recorded one" {
  start_stranger
  birth=$(sed 's/.*) //' "/proc/$stranger/stat" | cut -d ' ' -f 20)
  group=$(ps -o pgid= -p "$stranger" | tr -d ' ')
  for forged in "pid=$stranger" "pid=$stranger|pgid=$stranger" "pid=1|pgid=1" "pid=0|pgid=0" \
    "pid=-1|pgid=-1" "birth=1" "boot=00000000-0000-0000-0000-000000000000" "init=1" \
    "pid=$group|pgid=$group|birth=$birth" "machine=elsewhere|host=elsewhere" "sid=1"; do
    id=$(new_id)
    launch "$id" sleep 1000
    leader=$(started_field "$id" pid)
    changes=()
    while IFS= read -r change; do changes+=(-e "s/^${change%%=*}=.*/$change/"); done \
      < <(tr '|' '\n' <<<"$forged")
    sed -i "${changes[@]}" "$(job_folder "$id")/started"
    cancel "$id" grace=1 >"$BATS_TEST_TMPDIR/reply"
    run ! grep -q '^step \(INT\|TERM\|KILL\)$' "$BATS_TEST_TMPDIR/reply"
    lives "$stranger" || fail "$forged: the stranger is dead: $(cat "$BATS_TEST_TMPDIR/reply")"
    kill -KILL "$leader" 2>/dev/null || true
  done
}

@test "04 cancel does not wait for a job that ends by itself in between" {
  id=$(new_id)
  launch "$id" sh -c 'sleep 0.3'
  run -0 cancel "$id"
  grep -q '^\(survivors\|leftover\)$' <<<"$output" || fail "$output"
  grep -q '^exit ' <<<"$output"
}

@test "14 INT comes first for an agent, which may then end by itself" {
  id=$(new_id)
  launch "$id" bash -c 'trap "echo result; exit 0" INT; while :; do sleep 0.1; done'
  sleep 0.5
  cancelled "$id" interrupt=yes
  expect steps "$(grep -x 'step [A-Z]*' <<<"$reply")" 'step INT'
  expect out "$(cat "$(job_folder "$id")/out.jsonl")" result
  expect record "$(record_field "$id" how) $(record_field "$id" status) $(record_field "$id" cancel)" 'code 0 yes'
}

@test "14 TERM ends a job that ignores INT, KILL one that ignores both" {
  for deaf in INT 'INT TERM'; do
    id=$(new_id)
    launch "$id" sh -c "trap '' $deaf; while :; do sleep 0.1; done"
    sleep 0.5
    cancelled "$id" interrupt=yes grace=1
    case $deaf in
      INT) expect steps "$(grep -x 'step [A-Z]*' <<<"$reply" | tr '\n' ' ')" 'step INT step TERM ' ;;
      *) expect steps "$(grep -x 'step [A-Z]*' <<<"$reply" | tr '\n' ' ')" 'step INT step TERM step KILL ' ;;
    esac
    expect how "$(record_field "$id" how)" signal
  done
}

@test "14 the proof of death never rests on INT: what outlives an obedient leader is ended" {
  id=$(new_id)
  launch "$id" env "$(mark "$id")" bash -c 'setsid sleep 1000 & sleep 1000 & trap "exit 0" INT; while :; do sleep 0.1; done'
  spikes_wait 5 eval '[ "$(living "$id" | wc -l)" -ge 3 ]'
  cancelled "$id" interrupt=yes grace=2
  expect 'what lives' "$(living "$id")" ''
}

@test "14 a stopped job is ended" {
  id=$(new_id)
  launch "$id" env "$(mark "$id")" sh -c 'sleep 1000 & sleep 1000'
  spikes_wait 5 has_living "$id" 3
  kill -STOP -- "-$(started_field "$id" pgid)"
  cancelled "$id" interrupt=yes grace=1
  expect 'what lives' "$(living "$id")" ''
  expect how "$(record_field "$id" how)" signal
}

is_stopped() { [ "$(ps -o stat= -p "$1" | cut -c 1)" = T ]; }

is_zombie() { [ "$(ps -o stat= -p "$1" | cut -c 1)" = Z ]; }

@test "15 a leader that is a zombie does not count as alive" {
  id=$(new_id)
  launch "$id" sleep 1000
  leader=$(started_field "$id" pid) supervisor=$(started_field "$id" supervisor)
  # A wait(2) that has not come to its stop yet still reaps.
  kill -STOP "$supervisor"
  spikes_wait 5 is_stopped "$supervisor"
  kill -KILL "$leader"
  spikes_wait 5 is_zombie "$leader"
  kill -0 "$leader"
  inspect "$id" | grep -q ' leader=zombie .*group=0 '
  cancelled "$id"
  run ! grep -q '^step \(INT\|TERM\|KILL\)$' <<<"$reply"
  kill -CONT "$supervisor"
  ended_with "$id" signal 9
}

@test "15 zombies in the group that nobody reaps neither delay the record nor survive a cancel" {
  id=$(new_id)
  # The child's parent is gone before it ends, and who adopts it here never waits for it.
  launch "$id" bash -c 'sleep 0.2 & echo $!; (sleep 0.1 & echo $!; exec sleep 0.05) & sleep 0.5; exec sleep 1000'
  spikes_wait 5 has_bytes "$id" out.jsonl 4
  group=$(started_field "$id" pgid)
  zombies=0
  sleep 1
  while read -r pid; do ! is_zombie "$pid" || zombies=$((zombies + 1)); done \
    <"$(job_folder "$id")/out.jsonl"
  [ "$zombies" -gt 0 ] || fail 'there is no zombie to be mistaken'
  inspect "$id" | grep -q ' leader=alive .*group=1 '
  cancelled "$id"
  kill -0 -- "-$group" || fail 'the group has no zombie any more'
  spikes_wait 3 has_record "$id"
  inspect "$id" | grep -q ' group=0 '
}

@test "15 an exit record is written although a zombie stays in the group" {
  id=$(new_id)
  launch "$id" bash -c '(sleep 0.1 & exec sleep 0.05) & sleep 0.5; exit 3'
  before=$(milliseconds)
  ended_with "$id" code 3
  [ $(($(milliseconds) - before)) -lt 2500 ]
  kill -0 -- "-$(started_field "$id" pgid)" || fail 'the group has no zombie'
  run -0 cancel "$id"
  grep -qx leftover <<<"$output" || fail "$output"
}
