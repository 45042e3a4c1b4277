#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# One look at a job: what its directory records, and what of that still holds. These are facts; what
# they mean is concluded by the client.

compare() { # <recorded> <now> -> match: same, other, or unknown where either cannot be read
  match=unknown
  case ${1:--} in -) return ;; esac
  case ${2:--} in -) return ;; esac
  if [ "$1" = "$2" ]; then match=same; else match=other; fi
}

compare_host() { # -> machine, boot, init: same, other or unknown
  local match
  host_identity
  compare "$recorded_boot" "$boot_id"
  boot=$match
  # A container that was restarted has the same boot id and another PID 1.
  compare "$recorded_init" "$init_birth"
  init=$match
  compare "$recorded_machine" "$machine_id"
  machine=$match
  compare "$recorded_host" "$host_name"
  if [ "$machine" = unknown ]; then
    machine=$match
  elif [ "$match" = other ] && is_past && [ -r /etc/machine-id ]; then
    # The nodes of a cluster, and containers, may all have the id of the image that they were made
    # from: what is neither the same by name nor by its start is another machine.
    machine=other
  fi
}

is_past() { # what ran when the job was started has ended since, all of it
  [ "$boot" = other ] || [ "$init" = other ]
}

look_at_leader() { # -> leader: alive, zombie, gone, stranger or unknown
  local state parent group session birth
  if ! is_process_number "$recorded_pid"; then
    leader=unknown
  elif process "$recorded_pid"; then
    if [ "$birth" != "$recorded_birth" ] || [ "$group" != "$recorded_group" ] \
      || [ "$session" != "$recorded_session" ]; then
      leader=stranger
    elif is_dead "$state"; then
      leader=zombie
    else
      leader=alive
    fi
  elif [ -d "/proc/$recorded_pid" ]; then
    leader=unknown
  else
    leader=gone
  fi
}

look_at_supervisor() { # -> supervisor: alive, gone or unknown
  local state parent group session birth
  supervisor=gone
  is_process_number "$recorded_supervisor" || { supervisor=unknown; return; }
  if process "$recorded_supervisor"; then
    [ "$birth" = "$recorded_supervisor_birth" ] && ! is_dead "$state" && supervisor=alive
  elif [ -d "/proc/$recorded_supervisor" ]; then
    supervisor=unknown
  fi
}

look_at_processes() { # -> leader, supervisor
  if [ "$machine" = other ]; then
    leader=unknown supervisor=unknown
  elif is_past; then
    # Whoever has these numbers now is a stranger.
    leader=gone supervisor=gone
  else
    look_at_leader
    look_at_supervisor
  fi
}

look_at_silence() { # -> quiet: for how many seconds no stream has grown, by the host's own clock
  local file when newest=0 now
  for file in "$job/out.jsonl" "$job/err.log"; do
    # GNU and busybox, else BSD.
    when=$(stat -c %Y -- "$file" 2>/dev/null) || when=$(stat -f %m -- "$file" 2>/dev/null)
    case $when in '' | *[!0-9]*) continue ;; esac
    [ "$when" -le "$newest" ] || newest=$when
  done
  [ "$newest" != 0 ] || return 0
  now=$(date +%s)
  quiet=$((now > newest ? now - newest : 0))
}

count_group() { # -> kin, count: who lives in the recorded group
  local members
  kin=''
  [ "$machine" != other ] && ! is_past && is_process_number "$recorded_group" || return 0
  # No number is given anew while a group bears it: with a stranger for a leader, ours is empty.
  [ "$leader" = stranger ] || group_members "$recorded_group" "$recorded_session"
  # shellcheck disable=SC2086
  set -- $kin
  count=$#
}

look() { # [with-group] [with-causes] -> everything that `evidence` says
  local wishes=$*
  directory=present machine=unknown boot=unknown init=unknown leader=unknown supervisor=unknown
  count=unknown quiet=unknown disk=unknown oom=unknown logout=unknown
  if [ -e "$tombstone" ]; then
    directory=removed
  elif [ ! -d "$job" ]; then
    directory=absent
  fi
  read_started
  if [ "$start" = claimed ]; then
    compare_host
    look_at_processes
    case $wishes in *with-group*) count_group ;; esac
  fi
  # After the processes: a supervisor that writes the record and ends in between is not lost.
  read_exit
  cancel=no
  [ ! -e "$job/cancel" ] || cancel=yes
  if [ "$start" = claimed ] && [ -z "$record" ]; then
    look_at_silence
    case $leader.$supervisor.$wishes in
      *alive* | *unknown*) ;;
      *with-causes*) is_past || look_at_causes ;;
    esac
  fi
}

tell_evidence() { # what `look` found, and the records that belong to it
  local line
  say "evidence directory=$directory start=$start machine=$machine host=${recorded_host:--}" \
    "boot=$boot init=$init leader=$leader supervisor=$supervisor group=$count cancel=$cancel" \
    "quiet=$quiet disk=$disk oom=$oom logout=$logout"
  [ "$start" != refused ] || say "refused $refusal ${refusal_words:--}"
  [ -z "$record" ] || tell_exit
}

tell_exit() {
  local line=''
  { IFS= read -r line <"$job/noexec"; } 2>/dev/null
  [ -z "$line" ] || say "noexec $line"
  say "exit $record"
}
