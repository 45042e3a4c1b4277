#!/usr/bin/env bats
# shellcheck shell=bats
# Cancel ends all that a job started, and proves it.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

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
  left=$(living "$id" | sort)
  run -0 cancel "$id" leftovers=end
  expect 'what is to be ended' "$(sed -n 's/^beyond //p' <<<"$output" | tr ' ' '\n' | sort)" "$left"
  grep -qx leftover <<<"$output" || fail "$output"
  expect 'what lives after end' "$(living "$id")" ''
  expect 'the record' "$(record_field "$id" status) $(record_field "$id" cancel)" '6 no'
}

@test "04 a job that was never started is cancelled for good" {
  id=$(new_id)
  cancelled "$id"
  grep -q '^evidence directory=present start=cancelled ' <<<"$reply"
}

@test "04 a job under env -i, which carries no cookie, is cancelled by its group" {
  id=$(new_id)
  launch "$id" env -i "$(mark "$id")" PATH="$PATH" sh -c 'sleep 1000 & sleep 1000 & wait'
  spikes_wait 5 has_living "$id" 3
  expect 'carriers of the cookie' "$(with_environment "POCKET_JOB=$id")" ''
  cancelled "$id" grace=1
  expect 'what lives' "$(living "$id")" ''
  expect 'the record' "$(record_field "$id" how) $(record_field "$id" cancel)" 'signal yes'
}

@test "04 what will be ended beyond the group is named before the first signal" {
  id=$(new_id)
  launch "$id" env "$(mark "$id")" sh -c 'setsid sleep 1000 & setsid sleep 1001 & sleep 1002 & wait'
  spikes_wait 5 has_living "$id" 4
  spikes_wait 5 eval '[ "$(outside | wc -l)" = 2 ]'
  beyond=$(outside | sort)
  run -0 cancel "$id"
  expect 'the list' "$(sed -n 's/^beyond //p' <<<"$output" | tr ' ' '\n' | sort)" "$beyond"
  expect 'what comes first' "$(grep -n '^\(step\|beyond\|process\)' <<<"$output" | head -n 3 | cut -d ' ' -f 1)" \
    "$(printf '2:process\n3:process\n4:beyond')"
  sed -n 's/^process [0-9]* [0-9]* //p' <<<"$output" | while read -r command; do
    base64 -d <<<"$command" | grep -q '^sleep 100[01]$'
  done
  expect 'what lives' "$(living "$id")" ''
}

# The job's processes that are not in its group.
outside() {
  local pid
  for pid in $(living "$id"); do
    [ "$(stat_field "$pid" 5)" = "$(started_field "$id" pgid)" ] || printf '%s\n' "$pid"
  done
}

@test "04 a cancel of the group alone leaves the others, names them, and has proved the group dead" {
  id=$(new_id)
  launch "$id" env "$(mark "$id")" sh -c 'setsid sleep 1000 & sleep 1002 & wait'
  spikes_wait 5 has_living "$id" 3
  spikes_wait 5 eval '[ "$(outside | wc -l)" = 1 ]'
  left=$(outside)
  cancelled "$id" reach=group
  grep -qx "beyond $left" <<<"$reply" || fail "$reply"
  grep -qx "leftover $left" <<<"$reply" || fail "$reply"
  expect 'what lives' "$(living "$id")" "$left"
  expect 'the record' "$(record_field "$id" how) $(record_field "$id" cancel)" 'signal yes'
  # For a job that has ended it limits what is ended of its remains, too.
  run -0 cancel "$id" leftovers=end reach=group
  grep -qx "leftover $left" <<<"$output" || fail "$output"
  run -0 cancel "$id" leftovers=end
  grep -qx leftover <<<"$output" || fail "$output"
  expect 'what lives' "$(living "$id")" ''
}

@test "04 the grace is kept to the second, and none is none" {
  for grace in 0 3; do
    id=$(new_id)
    launch "$id" sh -c 'trap "" TERM; while :; do sleep 0.1; done'
    sleep 0.5
    before=$(milliseconds)
    cancelled "$id" "grace=$grace"
    took=$(($(milliseconds) - before))
    [ "$took" -ge $((grace * 1000)) ] || fail "$grace s took $took ms"
    expect 'the record' "$(record_field "$id" how) $(record_field "$id" status)" 'signal 9'
  done
}

@test "04 a full disk keeps no job from being cancelled" {
  need_root 'mounts a tmpfs'
  home=$(home_of host)
  mkdir -p "$home/.pocket"
  mount -t tmpfs -o size=3m,mode=700,uid="$(stat -c %u "$home")" tmpfs "$home/.pocket" \
    || skip 'no tmpfs can be mounted here'
  id=$(new_id)
  launch "$id" sleep 1000
  head -c 9000000 /dev/zero >"$home/.pocket/filler" 2>/dev/null || true
  cancel "$id" >"$BATS_TEST_TMPDIR/reply"
  has_record "$id" && end=$(record_field "$id" how)/$(record_field "$id" cancel)
  umount -l "$home/.pocket"
  grep -qx survivors "$BATS_TEST_TMPDIR/reply" || fail "$(cat "$BATS_TEST_TMPDIR/reply")"
  expect 'the record' "$end" signal/yes
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
