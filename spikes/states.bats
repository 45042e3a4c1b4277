#!/usr/bin/env bats
# shellcheck shell=bats
# The evidence of which a job's state is made: what one look at it finds.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

# expect_evidence ID FIELD=VALUE...: what inspect finds.
expect_evidence() {
  local id=$1 line field
  shift
  line=$(inspect "$id" | grep '^evidence ')
  for field; do
    case " $line " in *" $field "*) ;; *) fail "no $field in: $line" ;; esac
  done
}

# begin COMMAND...: a job, with its numbers noted before a test rewrites its record.
begin() {
  group='' id=$(new_id)
  launch "$id" "$@"
  leader=$(started_field "$id" pid) supervisor=$(started_field "$id" supervisor)
  # A group 0 or 1 would be everybody's: root's `kill -- -1` ends the whole machine.
  [ "$leader" -gt 1 ] && [ "$leader" = "$(started_field "$id" pgid)" ] && group=$leader
}

# write_started ID KEY VALUE
write_started() { sed -i "s|^$2=.*|$2=$3|" "$(job_folder "$1")/started"; }

# Supervisor and group at once, so that nobody writes a record.
kill_all() {
  kill -STOP "$supervisor"
  kill -KILL -- "-$group" 2>/dev/null || true
  kill -KILL "$supervisor"
  spikes_wait 5 is_gone "$supervisor"
}

# fake NAME: a program from stdin, first on the PATH of the login.
fake() {
  put host "fakes/$1" 755
  printf 'PATH=$HOME/fakes:$PATH\n' | put host .bash_profile
}

teardown() {
  rm -rf "$(home_of host)/fakes" "$(home_of host)/.bash_profile"
  [ -z "${group:-}" ] || kill -KILL -- "-$group" 2>/dev/null || true
  [ -z "${cgroup:-}" ] || leave_small_cgroup
  [ -z "${disk:-}" ] || leave_small_disk
}

@test "23 a job that runs: all is the same, and how long it has been silent" {
  begin sh -c 'sleep 1000 & echo one; wait'
  spikes_wait 5 has_bytes "$id" out.jsonl 4
  expect_evidence "$id" start=claimed machine=same boot=same init=same leader=alive \
    supervisor=alive group=2 disk=unknown oom=unknown logout=unknown
  touch -d '90 seconds ago' "$(job_folder "$id")/err.log" "$(job_folder "$id")/out.jsonl"
  inspect "$id" | grep -q ' quiet=9[0-9] ' || fail "$(inspect "$id")"
  touch "$(job_folder "$id")/err.log"
  inspect "$id" | grep -q ' quiet=[0-9] ' || fail "$(inspect "$id")"
}

@test "23 how long a job has been silent is told by the stat of a BSD too, and by none it is unknown" {
  begin sleep 1000
  touch -d '90 seconds ago' "$(job_folder "$id")/err.log" "$(job_folder "$id")/out.jsonl"
  fake stat <<'SH'
#!/bin/bash
# A fake: the options of a BSD.
[ "$1 $2" = '-f %m' ] || { echo "stat: illegal option" >&2; exit 1; }
exec /usr/bin/stat -c %Y "${@:3}"
SH
  inspect "$id" | grep -q ' quiet=9[0-9] ' || fail "$(inspect "$id")"
  printf '#!/bin/sh\nexit 127\n' | fake stat
  expect_evidence "$id" quiet=unknown leader=alive
}

@test "23 a container that was restarted is told from a host that was" {
  begin env -i sleep 1000
  write_started "$id" init 17
  expect_evidence "$id" boot=same init=other leader=gone supervisor=gone
  # What is alive there under these numbers is another's.
  run -0 cancel "$id" interrupt=yes grace=1
  run ! grep -q '^step \(INT\|TERM\|KILL\)$' <<<"$output"
  lives "$leader"
}

@test "23 a shared home on another machine: nothing is known of the processes, nothing is signalled" {
  begin sleep 1000
  write_started "$id" machine 0123456789abcdef0123456789abcdef
  write_started "$id" host node7
  expect_evidence "$id" machine=other host=node7 leader=unknown supervisor=unknown group=unknown
  run -0 cancel "$id" interrupt=yes grace=1
  grep -q '^error elsewhere ' <<<"$output" || fail "$output"
  lives "$leader"
}

@test "23 machines that were made from one image are told apart by name and start" {
  begin sleep 1000
  write_started "$id" host node7
  expect_evidence "$id" machine=same leader=alive
  write_started "$id" boot 00000000-0000-0000-0000-000000000000
  expect_evidence "$id" machine=other leader=unknown
}

@test "23 what hidepid hides is unknown, not a mismatch" {
  need_root 'mounts /proc'
  begin sleep 1000
  command=$(client render inspect nonce=0123456789abcdef "id=$id" out_bytes=- err_bytes=-)
  home=$(home_of host)
  user=$(stat -c %u "$home")
  looks_with() { # hidepid's value
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount -t proc -o "hidepid=$1" proc /proc || exit 9
      exec setpriv --reuid="$2" --regid="$2" --clear-groups env HOME="$3" bash -c "$4"' sh \
      "$1" "$user" "$home" "$command" </dev/null
  }
  for hides in 1 2; do
    run looks_with "$hides"
    [ "$status" != 9 ] || skip '/proc cannot be mounted here'
    grep -q ' machine=same .* boot=same init=unknown leader=alive supervisor=alive ' <<<"$output" \
      || fail "hidepid=$hides: $output"
  done
  # The leader's number on a process that is another's.
  write_started "$id" pid 1
  write_started "$id" pgid 1
  run -0 looks_with 1
  grep -q ' leader=unknown ' <<<"$output" || fail "$output"
}

@test "23 supervisor and group killed: both are gone, there is no record, and no cause is made up" {
  begin sh -c 'sleep 1000 & sleep 1000'
  kill_all
  expect_evidence "$id" supervisor=gone group=0 disk=free logout=none
  run ! grep -q '^exit ' <<<"$(inspect "$id")"
  run ! grep -q ' oom=\(killed\|counted\) ' <<<"$(inspect "$id")"
}

@test "23 an exit record that is torn or full of NULs is no record" {
  begin sleep 1000
  kill_all
  record=$(job_folder "$id")/exit
  for content in 'v=1 how=code status=0 out=0 err=0 started=1 ended=2 canc' 'end' \
    'v=2 how=code status=0 out=0 err=0 started=1 ended=2 cancel=no end'; do
    printf '%-255s\n' "$content" >"$record"
    run ! grep -q '^exit ' <<<"$(inspect "$id")"
  done
  head -c 256 /dev/zero >"$record"
  run ! grep -q '^exit ' <<<"$(inspect "$id")"
  expect_evidence "$id" start=claimed supervisor=gone
}

@test "23 a start that is damaged is not taken for none: nothing runs again, nothing is signalled" {
  begin sleep 1000
  started=$(job_folder "$id")/started
  whole=$(cat "$started")
  for damage in zero empty half; do
    case $damage in
      zero) head -c 300 /dev/zero >"$started" ;;
      empty) : >"$started" ;;
      half) printf '%s\n' "${whole%%$'\n'sid=*}" >"$started" ;;
    esac
    expect_evidence "$id" start=damaged leader=unknown
    run -0 cancel "$id" interrupt=yes grace=1
    grep -q '^error stranger ' <<<"$output" || fail "$damage: $output"
    run -0 client launch "$id" sleep 1000
    grep -q '^error nostart ' <<<"$output" || fail "$damage: $output"
    run -0 client ask remove "id=$id"
    grep -q '^error running ' <<<"$output" || fail "$damage: $output"
  done
  lives "$leader"
  printf '%s\n' "$whole" >"$started"
}

# Runs a job that fills its disk, and kills it before its end is recorded.
is_full() { { ! head -c 65536 /dev/zero >"$disk/probe"; } 2>/dev/null; }

# On btrfs, df tells of room that nobody gets: there a full disk is told by the exit record alone
# (12), whose supervisor asks by writing, and not by a look, which writes nothing.
@test "23 lost on a full disk (small tmpfs)" {
  need_root 'mounts a tmpfs'
  enter_small_disk tmpfs
  begin sh -c 'cat /dev/zero; sleep 1000'
  spikes_wait 60 is_full
  kill_all
  { cat /dev/zero >>"$disk/more"; } 2>/dev/null || true
  expect_evidence "$id" supervisor=gone group=0 disk=full
}

@test "23 lost for want of memory: the kernel has counted it or has named the leader" {
  need_root 'makes a cgroup'
  enter_small_cgroup || skip 'no memory cgroup can be made here'
  begin sh -c 'until [ -e "$HOME/go" ]; do sleep 0.1; done; exec dd if=/dev/zero of=/dev/null bs=500M count=1'
  kill -STOP "$supervisor"
  touch "$(home_of host)/go"
  spikes_wait 10 is_gone "$leader"
  kill -KILL "$supervisor"
  inspect "$id" | grep -q ' oom=\(killed\|counted\) ' || fail "$(inspect "$id")"
}

@test "23 the kernel's log counts only if it names leader or supervisor, after their start (fake log)" {
  begin sleep 1000
  [ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ] || skip 'not in the first pid namespace'
  kill_all
  birth=$(($(started_field "$id" birth) / 100))
  for case in "$((birth + 9)) $leader killed" "$((birth - 9)) $leader not" "$((birth + 9)) 1$leader not" \
    "$((birth + 9)) $supervisor killed"; do
    read -r when pid expected <<<"$case"
    printf '#!/bin/sh\necho "[%s.1] Out of memory: Killed process %s (sleep) total-vm:1kB"\n' \
      "$when" "$pid" | fake dmesg
    if [ "$expected" = killed ]; then
      expect_evidence "$id" oom=killed
    else
      run ! grep -q ' oom=killed ' <<<"$(inspect "$id")"
    fi
  done
  printf '#!/bin/sh\necho "dmesg: read kernel buffer failed: Operation not permitted" >&2\nexit 1\n' \
    | fake dmesg
  run ! grep -q ' oom=killed ' <<<"$(inspect "$id")"
}

@test "23 logged out by logind: the session's scope is gone, and logind ends what is left (fake logind)" {
  begin sleep 1000
  kill_all
  user=$(stat -c %U "$(home_of host)")
  settings() {
    printf '#!/bin/sh\nprintf "%%s\\n" KillUserProcesses=%s "KillOnlyUsers=%s" "KillExcludeUsers=%s"\n' \
      "$@" | fake loginctl
  }
  settings yes '' root
  expect_evidence "$id" logout=none
  write_started "$id" cgroup "$(printf '0::/user.slice/user-1.slice/session-5.scope' | base64 -w 0)"
  expect_evidence "$id" logout=killed
  settings no '' root
  expect_evidence "$id" logout=unknown
  settings yes '' "root $user"
  expect_evidence "$id" logout=unknown
  settings yes somebody root
  expect_evidence "$id" logout=unknown
  printf '#!/bin/sh\nexit 1\n' | fake loginctl
  expect_evidence "$id" logout=unknown
  write_started "$id" cgroup ''
  expect_evidence "$id" logout=unknown
}
