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
