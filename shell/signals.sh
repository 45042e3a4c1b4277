#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# Signals to a job, and to nobody else: each is sent in the same breath as the proof that it is the
# job's own process that gets it (docs/design.md, invariant 6). What is done is told to `step`, a
# function of whoever uses this part.

is_above_us() { # <group>: this script's own, or that of a process it descends from, such as sshd
  local pid=$$ state parent group session birth
  while is_process_number "$pid" && process "$pid"; do
    [ "$group" != "$1" ] || return 0
    pid=$parent
  done
  return 1
}

identify() { # -> who: leader, group, none or refuse; why. In the same breath as every signal.
  local state parent group session birth
  who=refuse why=''
  if ! is_process_number "$recorded_pid" || [ "$recorded_pid" != "$recorded_group" ] \
    || [ -z "$recorded_birth" ] || [ -z "$recorded_boot" ]; then
    why='the started file is not whole'
    return
  fi
  compare_host
  if [ "$machine" = other ]; then
    why="the job runs on $recorded_host, this is $host_name"
    return
  fi
  if is_past; then
    who=none
    return
  fi
  # A leader is born into the supervisor's session, and who leads a group cannot make a new one.
  if [ "$recorded_session" = "$recorded_pid" ]; then
    why="process $recorded_pid leads a session, which no job's leader does"
    return
  fi
  if is_above_us "$recorded_group"; then
    why="group $recorded_group is that of this connection"
    return
  fi
  look_at_leader
  case $leader in
    alive)
      look_at_supervisor
      # While its supervisor lives, a leader has no other parent.
      if [ "$supervisor" != alive ] \
        || { process "$recorded_pid" && [ "$parent" = "$recorded_supervisor" ]; }; then
        who=leader
      else
        why="process $recorded_pid is no child of the job's supervisor"
      fi
      return
      ;;
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
    refuse) step "$1 withheld: $why"; return 1 ;;
  esac
  target=$recorded_pid
  [ "$2" = leader ] || target=-$recorded_group
  kill "-$1" -- "$target" 2>/dev/null
  # A stopped process takes TERM only when it goes on.
  [ "$1" != TERM ] || kill -CONT -- "$target" 2>/dev/null
  step "$1"
  while [ $ticks -lt $(($3 * 10)) ]; do
    ! is_over || return 0
    pause
    ticks=$((ticks + 1))
    [ $((ticks % 20)) != 0 ] || step wait
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
    step sweep
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
