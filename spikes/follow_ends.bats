#!/usr/bin/env bats
# shellcheck shell=bats
# Nothing stays behind on the host when a follower's client is gone, however it went. All cases wait
# at the same time, since the longest of them waits for a minute of silence.

load harness.bash
load jobs.bash

# The users' PATHs: GNU utilities for `bash`, busybox first for `dash`.
setup_file() {
  local utilities how state
  spikes_start bash dash
  spikes_busybox "$SPIKES_DIR/busybox"
  if [ "$(id -u)" = 0 ] && [ -d "$SPIKES_DIR/busybox" ]; then
    printf 'PATH=%s:$PATH\n' "$SPIKES_DIR/busybox" | put dash .bash_profile
  fi
  mkdir "$SPIKES_DIR/cases"
  cases=()
  for utilities in $(spikes_hosts); do
    export SPIKES_HOST=$utilities
    id=$(new_id)
    client launch "$id" sh -c 'echo idle; sleep 1000' >/dev/null
    printf '%s\n' "$id" >"$SPIKES_DIR/idle.$utilities"
    id=$(new_id)
    client launch "$id" sh -c 'head -c 60000000 /dev/zero; sleep 1000' >/dev/null
    spikes_wait 20 has_bytes "$id" out.jsonl 60000000
    printf '%s\n' "$id" >"$SPIKES_DIR/blocked.$utilities"
    for how in vanished froze cut; do
      for state in idle blocked; do
        # Each case in the background, and none may end the suite: its test says what went wrong.
        lose_client "$utilities" "$how" "$state" >"$SPIKES_DIR/cases/$utilities.$how.$state.log" 2>&1 3>&- &
        cases+=($!)
      done
    done
  done
  outlast_silence >"$SPIKES_DIR/cases/outlast.log" 2>&1 3>&- &
  cases+=($!)
  wait "${cases[@]}" || true
}

teardown_file() { spikes_stop; }

# Processes of the follower: those of the session that sshd began for its command.
session_members() {
  ps -eo pid=,sid=,stat=,comm= | awk -v sid="$1" '$2 == sid && $3 !~ /^Z/ { print $1, $4 }'
}

no_members() { [ -z "$(session_members "$1")" ]; }

writes_frame() { session_members "$1" | grep -q ' \(head\|busybox\)$'; }

start_follower() { # FOLDER ID -> pid
  "$SPIKES_PYTHON" "$SPIKES_SOURCE/client.py" follow --deadline 600 --nonce-file "$1/nonce" \
    --into "$1/kept" "$2" &
  pid=$!
}

# The follower's script has its nonce in its arguments, and nobody else has.
follower_session() { # FOLDER
  ps -o sid= -p "$(pgrep -f "nonce='$(cat "$1/nonce")'" | head -n 1)" | tr -d ' '
}

# One case: a follower, its client lost, and how many seconds the follower lived on.
lose_client() { # HOST vanished|froze|cut idle|blocked
  local folder id pid ssh relay='' session lost
  export SPIKES_HOST=$1
  id=$(cat "$SPIKES_DIR/$3.$1")
  folder=$SPIKES_DIR/cases/$1.$2.$3
  mkdir "$folder"
  # shellcheck disable=SC2153 # the harness sets it
  "$SPIKES_PYTHON" "$SPIKES_SOURCE/relay.py" "$SPIKES_PORT" "$folder" &
  relay=$!
  spikes_wait 10 test -e "$folder/port"
  {
    printf 'Host *\n  Port %s\n  HostKeyAlias [127.0.0.1]:%s\n' "$(cat "$folder/port")" "$SPIKES_PORT"
    cat "$SPIKES_SSH_CONFIG"
  } >"$folder/ssh_config"
  SPIKES_SSH_CONFIG=$folder/ssh_config start_follower "$folder" "$id"
  if [ "$3" = idle ]; then
    spikes_wait 30 grep -q ' beat ' "$folder/kept/events"
  else
    spikes_wait 30 grep -q ' data ' "$folder/kept/events"
  fi
  ssh=$(ps -o pid= --ppid "$pid" | tr -d ' ')
  session=$(follower_session "$folder")
  [ "$session" -gt 1 ]
  case $2 in
    vanished | froze) kill -STOP "$pid" "$ssh" ;;
    cut) kill -USR2 "$relay" ;;
  esac
  if [ "$3" = blocked ]; then
    # The frame's writer is there, and stays: all buffers on the way are full.
    spikes_wait 20 writes_frame "$session"
    sleep 2
    writes_frame "$session"
  fi
  [ "$2" != vanished ] || kill -KILL "$pid" "$ssh"
  lost=$SECONDS
  spikes_wait 120 no_members "$session" || session_members "$session"
  printf '%s\n' $((SECONDS - lost)) >"$folder/seconds"
  kill -KILL "$pid" "$ssh" "$relay" 2>/dev/null || true
}

# A follower with a living client is still there after more than the minute of silence.
outlast_silence() {
  local folder=$SPIKES_DIR/cases/outlast pid
  SPIKES_HOST=$(spikes_first_shell)
  export SPIKES_HOST
  mkdir "$folder"
  start_follower "$folder" "$(cat "$SPIKES_DIR/idle.$SPIKES_HOST")"
  spikes_wait 30 grep -q ' beat ' "$folder/kept/events"
  sleep 70
  [ -n "$(session_members "$(follower_session "$folder")")" ]
  kill -0 "$pid"
  : >"$folder"ed
  kill -KILL "$pid"
}

# The case was tried, and its follower with all it had started was gone within 90 s.
ended_in_time() { # vanished|froze|cut idle|blocked
  local utilities folder
  for utilities in $(spikes_hosts); do
    folder=$SPIKES_DIR/cases/$utilities.$1.$2
    [ -s "$folder/seconds" ] || fail "$utilities: not tried: $(cat "$folder.log")"
    [ "$(cat "$folder/seconds")" -le 90 ] || fail "$utilities: $(cat "$folder/seconds") s: $(cat "$folder.log")"
    printf '# %s, %s, %s: %s s\n' "$1" "$2" "$utilities" "$(cat "$folder/seconds")" >&3
  done
}

@test "16 a follower whose client vanished ends itself and all it started: idle, GNU and busybox" { ended_in_time vanished idle; }
@test "16 a follower whose client vanished ends itself and all it started: in a frame, GNU and busybox" { ended_in_time vanished blocked; }
@test "16 a follower whose client froze ends itself and all it started: idle, GNU and busybox" { ended_in_time froze idle; }
@test "16 a follower whose client froze ends itself and all it started: in a frame, GNU and busybox" { ended_in_time froze blocked; }
@test "16 a follower whose client is cut off ends itself and all it started: idle, GNU and busybox" { ended_in_time cut idle; }
@test "16 a follower whose client is cut off ends itself and all it started: in a frame, GNU and busybox" { ended_in_time cut blocked; }

@test "16 a follower whose client lives and has nothing to say but newlines is not ended" {
  [ -e "$SPIKES_DIR/cases/outlasted" ] || fail "$(cat "$SPIKES_DIR/cases/outlast.log")"
}

@test "16 busybox was first on the PATH of the second user" {
  need_root 'the second user is a throw-away one'
  [ -d "$SPIKES_DIR/busybox" ] || skip 'busybox is not installed'
  id=$(new_id)
  # shellcheck disable=SC2016
  SPIKES_HOST=dash launch "$id" sh -c 'for name in head dd cksum; do readlink -f "$(command -v $name)"; done'
  SPIKES_HOST=dash ended_with "$id" code 0
  expect 'who provides them' "$(SPIKES_HOST=dash; sort -u "$(job_folder "$id")/out.jsonl" | sed 's,.*/,,')" busybox
}
