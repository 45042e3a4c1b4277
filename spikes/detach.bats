#!/usr/bin/env bats
# shellcheck shell=bats
# A job and the connection that started it have nothing to do with each other.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

teardown() {
  local pid
  for pid in ${relay:-} ${holder:-}; do kill -KILL "$pid" 2>/dev/null || true; done
}

# A job that writes a line every 0.1 s and ends with 4 after about 3 s.
launch_counting() { # ID LAUNCH-OPTION...
  local id=$1
  shift
  client launch "$@" "$id" sh -c 'i=0; while [ $i -lt 30 ]; do echo "$i"; echo "$i" >&2; sleep 0.1; i=$((i + 1)); done; exit 4' \
    >"$BATS_TEST_TMPDIR/launched"
}

went_on() { # ID: the job wrote all its lines and ended by itself
  ended_with "$1" code 4
  seq 0 29 >"$BATS_TEST_TMPDIR/wanted"
  same_bytes 'the out stream' "$(job_folder "$1")/out.jsonl" "$BATS_TEST_TMPDIR/wanted"
  same_bytes 'the err stream' "$(job_folder "$1")/err.log" "$BATS_TEST_TMPDIR/wanted"
}

# Launches through a connection that stays open afterwards, so that it is there to be broken: the
# job's launch is one of its channels.
launch_held() { # ID [CONFIG-LINE...]
  local id=$1
  shift
  {
    printf 'Host host\n  ControlPath %s/control\n' "$BATS_TEST_TMPDIR"
    [ $# = 0 ] || printf '  %s\n' "$@"
    cat "$SPIKES_SSH_CONFIG"
  } >"$BATS_TEST_TMPDIR/ssh_config"
  ssh -F "$BATS_TEST_TMPDIR/ssh_config" -M -N host 3>&- &
  holder=$!
  spikes_wait 10 test -S "$BATS_TEST_TMPDIR/control"
  SPIKES_SSH_CONFIG=$BATS_TEST_TMPDIR/ssh_config launch_counting "$id"
  spikes_wait 10 has_bytes "$id" out.jsonl 1
  [ -n "$(connection_processes)" ]
}

# The sshd processes of the connections, not the listener.
connection_processes() {
  local listener pid
  listener=$(cat "$SPIKES_DIR/sshd.pid")
  for pid in $(ps -o pid= --ppid "$listener"); do
    ps -o pid= --ppid "$pid"
    printf '%s\n' "$pid"
  done
}

# The connection is gone, and the job, that was started through it, has not ended.
broken_while_running() { # ID
  wait "$holder" || true
  spikes_wait 5 eval '[ -z "$(connection_processes)" ]'
  run ! has_record "$1"
}

@test "01 the job lives on when its connection is closed" {
  id=$(new_id)
  launch_held "$id"
  ssh -F "$BATS_TEST_TMPDIR/ssh_config" -O exit host 2>/dev/null
  broken_while_running "$id"
  went_on "$id"
}

@test "01 the job lives on when its connection is reset" {
  id=$(new_id)
  "$SPIKES_PYTHON" "$SPIKES_SOURCE/relay.py" "$SPIKES_PORT" "$BATS_TEST_TMPDIR" 3>&- &
  relay=$!
  spikes_wait 5 test -e "$BATS_TEST_TMPDIR/port"
  launch_held "$id" "Port $(cat "$BATS_TEST_TMPDIR/port")" "HostKeyAlias [127.0.0.1]:$SPIKES_PORT"
  kill -USR1 "$relay"
  broken_while_running "$id"
  went_on "$id"
}

@test "01 the job lives on when the ssh client is killed" {
  id=$(new_id)
  launch_held "$id"
  kill -KILL "$holder"
  broken_while_running "$id"
  went_on "$id"
}

@test "01 the job lives on when its sshd is killed" {
  id=$(new_id)
  launch_held "$id"
  # shellcheck disable=SC2046
  kill -KILL $(connection_processes)
  broken_while_running "$id"
  went_on "$id"
}

@test "07 launch answers at once and its channel closes while the job runs on" {
  id=$(new_id)
  client launch --times "$BATS_TEST_TMPDIR/times" "$id" sleep 1000 >/dev/null
  read -r answered closed <"$BATS_TEST_TMPDIR/times"
  [ "$answered" -lt 5000 ]
  [ "$closed" != open ] && [ "$closed" -lt $((answered + 2000)) ]
  lives "$(started_field "$id" pid)"
}

@test "07 leader and supervisor hold no descriptor of the channel" {
  id=$(new_id)
  launch "$id" sleep 1000
  for who in pid supervisor; do
    pid=$(started_field "$id" "$who")
    for descriptor in /proc/"$pid"/fd/*; do
      held=$(readlink "$descriptor")
      case $held in
        /dev/null | "$(job_folder "$id")"/*) ;;
        *) fail "$who holds ${descriptor##*/}: $held" ;;
      esac
    done
  done
}

@test "07 launch's channel closes although the login files opened further descriptors" {
  # Descriptors 4 and 63 are copies of the channel, as a careless profile makes them.
  printf 'exec 4>&8 63>&8 2>&8\n' | put host .bash_profile
  id=$(new_id)
  client launch --times "$BATS_TEST_TMPDIR/times" "$id" sleep 1000 >/dev/null
  rm "$(home_of host)/.bash_profile"
  read -r answered closed <"$BATS_TEST_TMPDIR/times"
  [ "$closed" != open ] && [ "$closed" -lt $((answered + 2000)) ]
}

@test "07 the wrong grouping (a && b &) hangs until the job ends, the right one does not" {
  # The subshell that waits for `sleep` holds the channel, since only `sleep` is redirected.
  before=$(milliseconds)
  remote host 'bash -c "true && sleep 3 </dev/null >/dev/null 2>&1 &"'
  wrong=$(($(milliseconds) - before))
  before=$(milliseconds)
  remote host 'bash -c "{ true && sleep 3; } </dev/null >/dev/null 2>&1 &"'
  right=$(($(milliseconds) - before))
  [ "$wrong" -ge 3000 ] || fail "the wrong grouping took $wrong ms"
  [ "$right" -lt 2500 ] || fail "the right grouping took $right ms"
}

@test "14 INT reaches a job under job control and not one without" {
  # The shell fact that the rule for the leader rests on: without job control `&` ignores INT.
  remote host 'bash -c '\''sleep 50 & echo $!; set -m; sleep 50 & echo $!; disown -a'\'' 2>/dev/null </dev/null 3>&-' \
    >"$BATS_TEST_TMPDIR/pids" &
  spikes_wait 5 eval '[ "$(wc -l <"$BATS_TEST_TMPDIR/pids")" = 2 ]'
  { read -r without && read -r with; } <"$BATS_TEST_TMPDIR/pids"
  kill -INT "$without" "$with"
  spikes_wait 5 is_gone "$with"
  sleep 0.3
  lives "$without"
  kill -TERM "$without"
  spikes_wait 5 is_gone "$without"
  wait
}

@test "14 a job ignores and blocks no signal that its user did not" {
  id=$(new_id)
  launch "$id" sleep 1000
  pid=$(started_field "$id" pid)
  for set in SigIgn SigBlk; do
    expect "$set" "$(sed -n "s/^$set:[[:space:]]*//p" "/proc/$pid/status")" \
      "$(remote host cat /proc/self/status | sed -n "s/^$set:[[:space:]]*//p")"
  done
}

@test "14 INT, TERM and KILL each end a job" {
  for signal in INT TERM KILL; do
    id=$(new_id)
    launch "$id" sleep 1000
    kill "-$signal" -- "-$(started_field "$id" pgid)"
    ended_with "$id" signal "$(kill -l "$signal")"
  done
}
