#!/usr/bin/env bats
# shellcheck shell=bats
# Cancel never signals a process that is not the job's, whatever `started` says.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

teardown() {
  if [ -n "${stranger:-}" ]; then kill -KILL "$stranger" 2>/dev/null || true; fi
}

# A process of the same user that is not the job's. It leads a group of its own, as a leader does.
start_stranger() {
  remote host 'bash -c "set -m; sleep 1000 </dev/null >/dev/null 2>&1 & echo \$!"' \
    >"$BATS_TEST_TMPDIR/stranger"
  read -r stranger <"$BATS_TEST_TMPDIR/stranger"
  lives "$stranger"
}

# A record of this process that is true in all but what the changes say: KEY=VALUE|...
record_of() { # PID [CHANGES]
  printf 'pid=%s|pgid=%s|sid=%s|birth=%s%s' "$1" "$(stat_field "$1" 5)" "$(stat_field "$1" 6)" \
    "$(stat_field "$1" 22)" "${2:+|$2}"
}

# A running job whose `started` then says something else. -> id, leader
forge() { # KEY=VALUE|...
  local change changes=()
  id=$(new_id)
  launch "$id" sleep 1000
  leader=$(started_field "$id" pid)
  while IFS= read -r change; do changes+=(-e "s/^${change%%=*}=.*/$change/"); done \
    < <(tr '|' '\n' <<<"$1")
  sed -i "${changes[@]}" "$(job_folder "$id")/started"
}

# The cancel is refused, with these words, and says so before any signal.
is_refused() { # WORDS CANCELS-ARGUMENT...
  local words=$1
  shift
  run -0 cancel "$id" grace=1 "$@"
  reply=$output
  run ! grep -q '^\(step\|beyond\|survivors\)' <<<"$reply"
  grep '^error stranger ' <<<"$reply" | cut -d ' ' -f 3 | base64 -d | grep -q "$words" \
    || fail "no refusal with [$words]: $reply"
  [ ! -e "$(job_folder "$id")/cancel" ] || fail 'it is marked as cancelled'
  lives "$leader" || fail 'the job was ended'
  kill -KILL "$leader"
}

@test "04 cancel refuses a started file that points at an unrelated process" {
  start_stranger
  own_session=$(stat_field "$stranger" 6)
  [ "$own_session" != "$stranger" ] || fail 'the stranger leads a session'
  forge "pid=$stranger"
  is_refused 'not whole'
  forge "pid=$stranger|pgid=$stranger"
  is_refused 'another process'
  # Its true start time, but the job's own sid.
  forge "pid=$stranger|pgid=$stranger|birth=$(stat_field "$stranger" 22)"
  is_refused 'another process'
  forge "$(record_of "$stranger" birth=1)"
  is_refused 'another process'
  # True in every field: nobody but the job's supervisor is a leader's parent.
  forge "$(record_of "$stranger")"
  is_refused 'no child'
  lives "$stranger"
}

@test "04 cancel refuses numbers that stand for many processes or for none" {
  for number in 1 0 '' -1; do
    for forged in "pid=$number|pgid=$number" "pgid=$number"; do
      forge "$forged"
      is_refused 'not whole'
    done
  done
  for number in +5 0x10 99999999999; do
    forge "pid=$number|pgid=$number"
    is_refused 'not whole'
  done
  for gone in 's/.*//' 's/^end=1$//' '/^pid=/d' 's/^birth=.*/birth=/' 's/^boot=.*/boot=/'; do
    forge attempt=x
    sed -i "$gone" "$(job_folder "$id")/started"
    is_refused 'not whole'
  done
  for number in 1 0 -1; do
    forge "sid=$number"
    is_refused 'another process'
  done
}

@test "04 cancel refuses the daemon's group, and that of the connection it came by" {
  daemon=$(cat "$SPIKES_DIR/sshd.pid")
  forge "$(record_of "$daemon")"
  is_refused .
  forge "$(record_of "$daemon" "pgid=$daemon")"
  is_refused .
  # The cancel comes by a connection that is there already.
  printf 'ControlPath %s/mux\n' "$SPIKES_DIR" | cat - "$SPIKES_SSH_CONFIG" >"$SPIKES_DIR/mux_config"
  ssh -F "$SPIKES_DIR/mux_config" -M -N -f host 3>&- 2>/dev/null
  SPIKES_SSH_CONFIG=$SPIKES_DIR/mux_config remote host 'echo $PPID' >"$BATS_TEST_TMPDIR/sshd"
  read -r sshd <"$BATS_TEST_TMPDIR/sshd"
  group=$(stat_field "$sshd" 5) session=$(stat_field "$sshd" 6)
  for record in "$(record_of "$sshd")" "$(record_of "$group")" \
    "$(record_of "$group" "sid=$(started_field "$id" sid)")" "pgid=$group|pid=$group"; do
    forge "$record"
    SPIKES_SSH_CONFIG=$SPIKES_DIR/mux_config is_refused .
    lives "$sshd" && lives "$group"
  done
  # No session leader is a leader, whoever its parent is; and no group above us, whatever its record.
  forge "$(record_of "$group")|supervisor=$(stat_field "$group" 4)"
  SPIKES_SSH_CONFIG=$SPIKES_DIR/mux_config is_refused 'leads a session'
  [ "$session" = "$group" ] || fail "sshd $group is in session $session"
  ssh -F "$SPIKES_DIR/mux_config" -O exit host 2>/dev/null
}

@test "04 a group that the script descends from is refused, though its leader is gone" {
  cat >"$BATS_TEST_TMPDIR/inner" <<'INNER'
set -f
for part in processes records evidence signals; do . "$1/$part.sh"; done
process $$
recorded_pid=$group recorded_group=$group recorded_session=$session
recorded_birth=1 recorded_boot=- recorded_init=- recorded_supervisor=''
host_identity
recorded_machine=$machine_id recorded_host=$host_name
while process "$recorded_pid"; do sleep 0.05; done
identify
printf '%s\n' "$who: $why" >"$0.said"
INNER
  # Job control gives the middle one a group of its own in our session; it leaves the inner one behind.
  bash -c 'set -m; bash -c "bash \"\$@\" &" - "$@" & wait' - "$BATS_TEST_TMPDIR/inner" \
    "${SPIKES_SHELL_DIR:-$BATS_TEST_DIRNAME/../shell}" 3>&-
  spikes_wait 10 test -s "$BATS_TEST_TMPDIR/inner.said"
  grep -q '^refuse: group [0-9]* is that of this connection$' "$BATS_TEST_TMPDIR/inner.said" \
    || fail "$(cat "$BATS_TEST_TMPDIR/inner.said")"
}

@test "04 another boot, or another PID 1, means that nothing of the job can be alive" {
  for forged in boot=00000000-0000-0000-0000-000000000000 init=1; do
    start_stranger
    forge "$(record_of "$stranger")|$forged"
    run -0 cancel "$id" grace=1
    run ! grep -q '^step \(INT\|TERM\|KILL\)$' <<<"$output"
    lives "$stranger" || fail "the stranger is dead: $output"
    kill -KILL "$stranger"
  done
  forge machine=elsewhere
  run -0 cancel "$id"
  grep -q '^error elsewhere ' <<<"$output" || fail "$output"
  lives "$leader"
}
