#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes carriers records evidence staging signals
# cancel: ends the whole process tree and proves it dead. Arguments: interrupt (yes: INT to the
# leader first), grace (whole seconds), reach (all, or group: what carries the cookie beyond the
# group is left alone), leftovers (list or end: what to do about the living remains of a job that
# has ended).

step() { say "step $1"; }

look_for_the_living() { # -> alive (in the job's group), beyond (carriers of the cookie outside it)
  local kin
  look_at_leader
  count_group
  alive=$kin
  # shellcheck disable=SC2086
  carriers_beyond $alive
}

mark_cancel() { # before the first signal: this is what makes the end a cancelled one
  local words
  [ ! -e "$job/cancel" ] || return 0
  # A full disk may be why it is cancelled. A second name for a file that is there takes no room.
  words=$( {
    mkdir -p "$root" && mkdir "$root/.in.$id.$nonce" \
      && printf 'time=%s\nnonce=%s\nend=1\n' "$(date +%s)" "$nonce" >"$root/.in.$id.$nonce/cancel"
  } 2>&1) || ln "$job/request" "$job/cancel" 2>/dev/null || fail write "$words"
  staging=$root/.in.$id.$nonce
  [ -e "$job/cancel" ] || place cancel
}

end_leftovers() {
  [ "$leftovers" = end ] || return 0
  [ "$machine" != other ] || fail elsewhere "the job ran on $recorded_host, this is $host_name"
  look_for_the_living
  [ "$reach" != group ] || beyond=''
  # shellcheck disable=SC2086
  tell_processes $alive $beyond
  say "beyond$alive$beyond"
  send TERM group "$grace"
  send KILL group 2
  [ "$reach" = group ] || sweep
}

conclude() { # <survivors|leftover>
  look_for_the_living
  # shellcheck disable=SC2086
  tell_processes $alive $beyond
  if [ "$1" = survivors ] && [ "$reach" = group ]; then
    say "survivors$alive"
    say "leftover$beyond"
  else
    say "$1$alive$beyond"
  fi
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
  if [ "$start" != claimed ] && [ "$start" != damaged ]; then
    say survivors
    look
    tell_evidence
    finish
  fi
  if read_exit; then
    compare_host
    end_leftovers
    conclude leftover
  fi
  identify
  if [ "$who" = refuse ]; then
    case $machine in other) fail elsewhere "$why" ;; *) fail stranger "$why" ;; esac
  fi
  look_for_the_living
  # shellcheck disable=SC2086
  tell_processes $beyond
  say "beyond$beyond"
  mark_cancel
  [ "$interrupt" != yes ] || send INT leader "$grace"
  send TERM group "$grace"
  send KILL group 2
  [ "$reach" = group ] || sweep
  # The supervisor gives late writers a second before it writes its record.
  while look_at_supervisor; [ "$supervisor" = alive ] && ! read_exit && [ $ticks -lt 30 ]; do
    pause
    ticks=$((ticks + 1))
  done
  conclude survivors
}

main
