#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes carriers records evidence staging signals
# cancel: ends the whole process tree and proves it dead. Arguments: interrupt (yes: INT to the
# leader first), grace (seconds), leftovers (list or end: what to do about the living remains of a
# job that has ended).

remains() { # -> left: living members of the group and carriers of the cookie, each once
  local pid
  left=''
  members=''
  # Not the group of a stranger who has our number by now.
  if is_process_number "$recorded_group" && [ "$boot" != other ]; then
    look_at_leader
    [ "$leader" = stranger ] || group_members "$recorded_group" "$recorded_session"
  fi
  cookie_carriers
  for pid in $members $carriers; do
    case " $left " in *" $pid "*) ;; *) left="$left $pid" ;; esac
  done
}

mark_cancel() { # before the first signal: this is what makes the end a cancelled one
  local words
  make_staging
  words=$( { printf 'time=%s\nnonce=%s\nend=1\n' "$(date +%s)" "$nonce" >"$staging/cancel"; } 2>&1) \
    || fail write "$words"
  place cancel
}

end_leftovers() {
  [ "$leftovers" = end ] || return 0
  send TERM group "$grace"
  send KILL group 2
  sweep
}

tell() { # <survivors|leftover>
  remains
  # shellcheck disable=SC2086
  tell_processes $left
  say "$1$left"
  look with-group
  tell_evidence
  finish
}

main() {
  local ticks=0
  trap : PIPE
  begin cancel
  [ ! -e "$tombstone" ] || { say removed; finish; }
  [ -e "$job/started" ] || forbid_start
  read_started
  if [ "$start" != claimed ]; then
    say survivors
    look
    tell_evidence
    finish
  fi
  if read_exit; then
    compare_host
    end_leftovers
    tell leftover
  fi
  identify
  if [ "$who" = refuse ]; then
    case $machine in other) fail elsewhere "$why" ;; *) fail stranger "$why" ;; esac
  fi
  mark_cancel
  [ "$interrupt" != yes ] || send INT leader "$grace"
  send TERM group "$grace"
  send KILL group 2
  sweep
  # The supervisor gives late writers a second before it writes its record.
  while look_at_supervisor; [ "$supervisor" = alive ] && ! read_exit && [ $ticks -lt 30 ]; do
    pause
    ticks=$((ticks + 1))
  done
  tell survivors
}

main
