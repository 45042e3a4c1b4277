#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes records evidence staging
# cancel: ends the whole process tree and proves it dead. Arguments: interrupt (yes: INT to the
# leader first), grace (seconds), leftovers (list or end: what to do about the living remains of a
# job that has ended).

identify() { # -> who: leader, group, none or refuse; why. In the same breath as every signal.
  local state parent group session birth own_group=''
  who=refuse why=''
  if ! is_process_number "$recorded_pid" || [ "$recorded_pid" != "$recorded_group" ] \
    || [ -z "$recorded_birth" ] || [ -z "$recorded_boot" ]; then
    why='the started file is not whole'
    return
  fi
  process $$ && own_group=$group
  if [ "$recorded_group" = "$own_group" ]; then
    why="group $recorded_group is this script's own"
    return
  fi
  compare_host
  if [ "$machine" = other ]; then
    why="the job runs on $recorded_host, this is $host_name"
    return
  fi
  if [ "$boot" = other ]; then
    who=none
    return
  fi
  look_at_leader
  case $leader in
    alive) who=leader; return ;;
    stranger) why="pid $recorded_pid now belongs to another process"; return ;;
    unknown) why="pid $recorded_pid cannot be examined"; return ;;
  esac
  group_members "$recorded_group" "$recorded_session"
  if [ -z "$members" ]; then
    who=none
  elif [ -n "$kin" ]; then
    who=group
  else
    why="group $recorded_group lives in another session:$members"
  fi
}

is_over() { # neither leader nor group lives
  local members kin
  look_at_leader
  [ "$leader" != alive ] || return 1
  group_members "$recorded_group" "$recorded_session"
  [ -z "$members" ]
}

send() { # <signal> <leader|group> <seconds>: then wait until it is over
  local ticks=0 target
  identify
  case $who in
    leader) ;;
    group) [ "$2" = group ] || return 0 ;;
    none) return 0 ;;
    refuse) say "step $1 withheld: $why"; return 1 ;;
  esac
  target=$recorded_pid
  [ "$2" = leader ] || target=-$recorded_group
  kill "-$1" -- "$target" 2>/dev/null
  # A stopped process takes TERM only when it goes on.
  [ "$1" != TERM ] || kill -CONT -- "$target" 2>/dev/null
  say "step $1"
  while [ $ticks -lt $(($3 * 10)) ]; do
    ! is_over || return 0
    pause
    ticks=$((ticks + 1))
    [ $((ticks % 20)) != 0 ] || say 'step wait'
  done
}

sweep() { # agents give each tool its own session, where no group signal reaches it
  local pid passes=0 empty=0
  while [ $empty -lt 2 ] && [ $passes -lt 50 ]; do
    passes=$((passes + 1))
    cookie_carriers
    if [ -z "$carriers" ]; then
      empty=$((empty + 1))
      continue
    fi
    empty=0
    say 'step sweep'
    for pid in $carriers; do
      has_cookie "$pid" || continue
      if [ $passes = 1 ]; then
        kill -TERM "$pid" 2>/dev/null
        kill -CONT "$pid" 2>/dev/null
      else
        kill -KILL "$pid" 2>/dev/null
      fi
    done
    pause
    [ $passes != 1 ] || { pause; pause; pause; pause; }
  done
}

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
