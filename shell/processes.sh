#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# What is known of processes. On Linux it comes from /proc without a fork; elsewhere from ps.

process() { # <pid> -> state parent group session birth; fails when it is not there or hidden
  local line
  state='' parent='' group='' session='' birth=''
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  if [ -r /proc/self/stat ]; then
    line=''
    # The name in parentheses may hold anything, newlines included, so read the file whole and
    # count the fields after the last parenthesis (proc(5)).
    { IFS= read -r -d '' line <"/proc/$1/stat"; } 2>/dev/null
    [ -n "$line" ] || return 1
    # shellcheck disable=SC2086
    set -- ${line##*) }
    state=$1 parent=$2 group=$3 session=$4 birth=${20}
  else
    # shellcheck disable=SC2046
    set -- $(ps -o stat= -o ppid= -o pgid= -o lstart= -p "$1" 2>/dev/null)
    [ $# -ge 4 ] || return 1
    state=${1%"${1#?}"} parent=$2 group=$3 session=-
    shift 3
    birth=$* birth=${birth// /_}
  fi
}

is_dead() { # <state>: a zombie only waits for its parent to read its status
  case $1 in Z* | X* | x*) return 0 ;; esac
  return 1
}

host_identity() { # -> boot_id init_birth host_name machine_id; `-` is unknown
  local state parent group session birth
  boot_id='' init_birth=- host_name='' machine_id=''
  { read -r boot_id </proc/sys/kernel/random/boot_id; } 2>/dev/null \
    || boot_id=$(sysctl -n kern.bootsessionuuid 2>/dev/null)
  # A container that was restarted has the same boot id and another PID 1.
  process 1 && init_birth=$birth
  { read -r host_name </proc/sys/kernel/hostname; } 2>/dev/null || host_name=$(uname -n)
  { read -r machine_id </etc/machine-id; } 2>/dev/null \
    || machine_id=$(sysctl -n kern.uuid 2>/dev/null)
  boot_id=${boot_id:--} host_name=${host_name:--} machine_id=${machine_id:--}
}

each_process() { # -> pids: every pid that this user can see
  local path
  pids=''
  if [ -r /proc/self/stat ]; then
    set +f
    for path in /proc/[0-9]*; do pids="$pids ${path#/proc/}"; done
    set -f
  else
    pids=$(ps -A -o pid= 2>/dev/null)
  fi
}

group_members() { # <group> <session> -> members (alive), kin (those of the recorded session)
  local pid pids state parent group session birth
  members='' kin=''
  each_process
  for pid in $pids; do
    process "$pid" || continue
    [ "$group" = "$1" ] || continue
    is_dead "$state" && continue
    members="$members $pid"
    [ "$session" = "$2" ] && kin="$kin $pid"
  done
}

command_of() { # <pid> -> command: its arguments, as far as they fit on a line of a table
  local argument
  command=''
  if [ -r /proc/self/stat ]; then
    {
      while [ ${#command} -lt 200 ] && IFS= read -r -d '' argument; do
        command="$command${command:+ }$argument"
      done <"/proc/$1/cmdline"
    } 2>/dev/null
    # A process may have written over its arguments, or be of the kernel and have none.
    [ -n "$command" ] || { IFS= read -r command <"/proc/$1/comm"; } 2>/dev/null
  else
    command=$(ps -o command= -p "$1" 2>/dev/null)
  fi
  command=${command:0:200}
}

tell_processes() { # <pid>...: who they are, before a line that says what about them
  local pid state parent group session birth command
  for pid; do
    process "$pid" || continue
    command_of "$pid"
    say "process $pid $group $(encode64 "$command")"
  done
}

has_cookie() { # <pid>: its environment names this job
  local entry
  {
    while IFS= read -r -d '' entry; do
      [ "$entry" = "POCKET_JOB=$id" ] && return 0
    done <"/proc/$1/environ"
  } 2>/dev/null
  return 1
}

cookie_carriers() { # -> carriers: this user's living processes that carry the cookie
  local pid pids state parent group session birth own_group=''
  carriers=''
  process $$ && own_group=$group
  each_process
  for pid in $pids; do
    [ -O "/proc/$pid" ] || continue
    process "$pid" || continue
    [ "$group" = "$own_group" ] && continue
    is_dead "$state" && continue
    has_cookie "$pid" && carriers="$carriers $pid"
  done
}
