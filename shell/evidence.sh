#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# One look at a job: what its directory records, and what of that still holds.

compare_host() { # -> machine, boot: same, other or unknown. A value that cannot be read is unknown.
  host_identity
  machine=unknown boot=unknown
  if [ "$recorded_machine" != - ] && [ "$machine_id" != - ]; then
    if [ "$recorded_machine" = "$machine_id" ]; then machine=same; else machine=other; fi
  elif [ "$recorded_host" = "$host_name" ]; then
    machine=same
  else
    machine=other
  fi
  if [ "$recorded_boot" != - ] && [ "$boot_id" != - ]; then
    if [ "$recorded_boot" = "$boot_id" ]; then boot=same; else boot=other; fi
  fi
  if [ "$recorded_init" != - ] && [ "$init_birth" != - ]; then
    [ "$recorded_init" = "$init_birth" ] || boot=other
  fi
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

look() { # [with-group] -> everything that `evidence` says
  directory=present machine=unknown boot=unknown leader=unknown supervisor=unknown count=unknown
  if [ -e "$tombstone" ]; then
    directory=removed
  elif [ ! -d "$job" ]; then
    directory=absent
  fi
  read_started
  if [ "$start" = claimed ]; then
    compare_host
    if [ "$machine" != other ] && [ "$boot" != other ]; then
      look_at_leader
      look_at_supervisor
      if [ "${1-}" = with-group ] && is_process_number "$recorded_group"; then
        group_members "$recorded_group" "$recorded_session"
        # shellcheck disable=SC2086
        set -- $members
        count=$#
      fi
    else
      leader=gone supervisor=gone
    fi
  fi
  # After the processes: a supervisor that writes the record and ends in between is not lost.
  read_exit
  cancel=no
  [ ! -e "$job/cancel" ] || cancel=yes
}

tell_evidence() { # what `look` found, and the records that belong to it
  local line
  say "evidence directory=$directory start=$start machine=$machine host=${recorded_host:--}" \
    "boot=$boot leader=$leader supervisor=$supervisor group=$count cancel=$cancel"
  [ "$start" != refused ] || say "refused $refusal ${refusal_words:--}"
  [ -z "$record" ] || tell_exit
}

tell_exit() {
  local line=''
  { IFS= read -r line <"$job/noexec"; } 2>/dev/null
  [ -z "$line" ] || say "noexec $line"
  say "exit $record"
}
