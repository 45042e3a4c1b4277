#!/usr/bin/env bats
# shellcheck shell=bats
# How a job's end is recorded.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

@test "10 SIGKILL of the whole group still leaves an exit record with the signal and the final sizes" {
  id=$(new_id)
  launch "$id" sh -c 'printf 12345; printf 123 >&2; sleep 1000 & sleep 1000'
  spikes_wait 5 has_bytes "$id" err.log 3
  kill -KILL -- "-$(started_field "$id" pgid)"
  ended_with "$id" signal 9
  expect sizes "$(record_field "$id" out) $(record_field "$id" err)" '5 3'
}

@test "10 the supervisor is outside the group and carries no cookie" {
  id=$(new_id)
  launch "$id" sleep 1000
  supervisor=$(started_field "$id" supervisor)
  lives "$supervisor"
  expect 'carriers of the cookie' "$(with_environment "POCKET_JOB=$id")" "$(started_field "$id" pid)"
  [ "$(ps -o pgid= -p "$supervisor" | tr -d ' ')" != "$(started_field "$id" pgid)" ]
  kill -KILL "$(started_field "$id" pid)"
  ended_with "$id" signal 9
}

# The leader of the job $1, whose `ln` of the claim is on its way -> leader
claims() {
  local path
  # The brackets keep grep from finding itself.
  path=$(grep -l -- "/$1/[s]tarted" /proc/[0-9]*/cmdline 2>/dev/null | head -n 1)
  [ -n "$path" ] || return 1
  path=${path#/proc/}
  leader=$(ps -o ppid= -p "${path%/cmdline}" | tr -d ' ')
  [ -n "$leader" ]
}

@test "10 a leader that is killed while its claim is on the way leaves a record" {
  printf '%s\n' '#!/bin/sh' 'case $2 in */started) until [ -e ~/go-on ]; do sleep 0.05; done ;; esac' \
    'exec /bin/ln "$@"' | put host slow/ln 755
  printf 'PATH=$HOME/slow:$PATH\n' | put host .bash_profile
  id=$(new_id)
  launch "$id" sleep 1000 3>&- &
  spikes_wait 10 claims "$id"
  kill -KILL "$leader"
  touch "$(home_of host)/go-on"
  wait
  rm -r "$(home_of host)/slow" "$(home_of host)/.bash_profile" "$(home_of host)/go-on"
  expect 'who claimed' "$(started_field "$id" pid)" "$leader"
  ended_with "$id" signal 9
}

@test "11 exit 0, 3, 137, 255 and death by SIGKILL are told apart" {
  for code in 0 3 127 128 129 137 255; do
    id=$(new_id)
    launch "$id" sh -c "exit $code"
    ended_with "$id" code "$code"
  done
  for signal in KILL TERM SEGV HUP INT; do
    id=$(new_id)
    launch "$id" bash -c "kill -$signal \$\$; sleep 1000"
    ended_with "$id" signal "$(kill -l "$signal")"
  done
}

@test "11 exit 137 and SIGKILL are told apart in slow jobs too" {
  first=$(new_id) second=$(new_id)
  launch "$first" sh -c 'sleep 1.5; exit 137'
  launch "$second" sh -c 'sleep 1.5; kill -KILL $$'
  ended_with "$first" code 137
  ended_with "$second" signal 9
}

@test "11 a leader that was stopped and continued has not ended" {
  id=$(new_id)
  launch "$id" sh -c 'sleep 1; exit 7'
  leader=$(started_field "$id" pid)
  kill -STOP "$leader"
  sleep 2
  run ! has_record "$id"
  kill -CONT "$leader"
  ended_with "$id" code 7
}

@test "11 signals to the supervisor change nothing" {
  id=$(new_id)
  launch "$id" sh -c 'sleep 1; exit 137'
  supervisor=$(started_field "$id" supervisor)
  for signal in HUP INT TERM QUIT PIPE; do
    kill "-$signal" "$supervisor"
    sleep 0.05
  done
  ended_with "$id" code 137
}

@test "11 a program that cannot be executed is told from a program's own 127" {
  id=$(new_id)
  home=$(home_of host)
  printf 'no interpreter has this' | put host broken-program 755
  printf '#!/nonexistent/interpreter\n' | put host orphan-script 755
  launch "$id" ./orphan-script
  ended_with "$id" code 126 || ended_with "$id" code 127
  [ -s "$home/.pocket/jobs/$id/noexec" ]
  inspect "$id" | grep -q '^noexec 12[67] [A-Za-z0-9+/=]*$'
  id=$(new_id)
  launch "$id" sh -c 'exit 127'
  ended_with "$id" code 127
  [ ! -e "$home/.pocket/jobs/$id/noexec" ]
}

@test "11 no folder, no program and no permission are refusals with the host's words, and final" {
  printf 'text' | put host not-executable 644
  for case in 'cwd|--cwd|no such folder|true' 'program|--cwd||no-such-program' \
    'program|--cwd||./no-such-file' 'permission|--cwd||./not-executable'; do
    IFS='|' read -r reason option cwd program <<<"$case"
    id=$(new_id)
    for attempt in 1 2; do
      run -0 client launch "$option" "$cwd" "$id" "$program"
      grep -q "^refused $reason [A-Za-z0-9+/=]*\$" <<<"$output" || fail "attempt $attempt: $output"
    done
    inspect "$id" | grep -q '^evidence directory=present start=refused'
    run ! has_record "$id"
  done
}

@test "12 a disk that is not full is not said to be" {
  id=$(new_id)
  launch "$id" true
  ended_with "$id" code 0
  expect 'disk in the record' "$(record_field "$id" disk)" ''
}

@test "12 a command that the kernel killed for want of memory has that in its record" {
  need_root 'makes a cgroup'
  enter_small_cgroup || skip 'no memory cgroup can be made here'
  id=$(new_id)
  # The kernel kills the biggest of the group, and the supervisor is small.
  launch "$id" dd if=/dev/zero of=/dev/null bs=500M count=1
  ended_with "$id" signal 9
  expect 'oom in the record' "$(record_field "$id" oom)" counted
  id=$(new_id)
  launch "$id" sh -c 'kill -KILL $$'
  ended_with "$id" signal 9
  expect 'oom in the record of another death by KILL' "$(record_field "$id" oom)" ''
}

@test "12 a full disk (small tmpfs) still leaves an exit record" {
  need_root 'mounts a tmpfs'
  full_disk tmpfs
}

@test "12 a full disk (small btrfs image) still leaves an exit record" {
  need_root 'mounts a file system'
  full_disk btrfs
}

# Runs a job that fills the disk under ~/.pocket, of this kind.
full_disk() {
  local id
  enter_small_disk "$1"
  id=$(new_id)
  launch "$id" sh -c 'cat /dev/zero; echo "cat said $?" >&2; exit 5'
  ended_with "$id" code 5
  expect 'size in the record' "$(record_field "$id" out)" "$(size_of "$id" out.jsonl)"
  expect 'disk in the record' "$(record_field "$id" disk)" full
  # The disk is full to the last byte, which only the ballast can have made untrue.
  cat /dev/zero >"$disk/more" 2>/dev/null || true
  id=$(new_id)
  run -0 client launch "$id" sh -c 'echo ran'
  grep -q '^error write ' <<<"$output" || fail "launch on a full disk: $output"
  [ ! -e "$(job_folder "$id")/started" ]
}

teardown() {
  [ -z "${cgroup:-}" ] || leave_small_cgroup
  [ -z "${disk:-}" ] || leave_small_disk
}

@test "18 what a background child writes within a second after the leader's death belongs to the job" {
  id=$(new_id)
  launch "$id" sh -c '{ sleep 0.4; echo soon; } & echo main'
  ended_with "$id" code 0
  expect 'the out stream' "$(cat "$(job_folder "$id")/out.jsonl")" $'main\nsoon'
  expect 'the size in the record' "$(record_field "$id" out)" 10
}

@test "18 what comes later is reported as late" {
  id=$(new_id)
  launch "$id" sh -c '{ sleep 0.3; echo soon; sleep 5; echo later; echo e >&2; } & echo main'
  ended_with "$id" code 0
  expect 'the size in the record' "$(record_field "$id" out)" 10
  spikes_wait 10 has_bytes "$id" err.log 2
  follow_all "$id" "$BATS_TEST_TMPDIR/kept"
  expect kept "$(cat "$BATS_TEST_TMPDIR/kept/out.0")" $'main\nsoon'
  grep -q ' late 6 2$' "$BATS_TEST_TMPDIR/kept/events"
}

@test "18 late output is sent on request, once, with the checks of any frame" {
  id=$(new_id)
  launch "$id" sh -c '{ sleep 4; echo later; echo e >&2; exec >&- 2>&-; sleep 1000; } & echo main'
  ended_with "$id" code 0
  follow_all "$id" "$BATS_TEST_TMPDIR/kept"
  spikes_wait 10 has_bytes "$id" err.log 2
  for _ in 1 2; do
    follow_all "$id" "$BATS_TEST_TMPDIR/kept" --late
    expect 'the out stream' "$(cat "$BATS_TEST_TMPDIR/kept/out.0")" $'main\nlater'
    expect 'the err stream' "$(cat "$BATS_TEST_TMPDIR/kept/err.0")" e
  done
  echo more >>"$(job_folder "$id")/out.jsonl"
  follow_all "$id" "$BATS_TEST_TMPDIR/kept" --late
  expect 'the out stream' "$(tail -n 1 "$BATS_TEST_TMPDIR/kept/out.0")" more
  # What was rewritten since is no continuation.
  printf 'something else entirely\n' >"$(job_folder "$id")/out.jsonl"
  client follow --late --into "$BATS_TEST_TMPDIR/kept" --until gap "$id"
  grep -q ' gap out 0 rewritten 16 ' "$BATS_TEST_TMPDIR/kept/events" || fail "$(cat "$BATS_TEST_TMPDIR/kept/events")"
}

@test "18 the record does not wait for a child that goes on for ever" {
  id=$(new_id)
  before=$(milliseconds)
  launch "$id" sh -c 'sleep 1000 & exit 0'
  ended_with "$id" code 0
  [ $(($(milliseconds) - before)) -lt 10000 ]
  inspect "$id" | grep -q '^leftover [0-9]'
}
