#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# What a process's control groups tell of a want of memory. Where there are none, it is unknown.

own_cgroup() { # -> cgroup: the lines of /proc/self/cgroup, empty where there are none
  cgroup=''
  [ ! -r /proc/self/cgroup ] || cgroup=$(cat /proc/self/cgroup 2>/dev/null)
}

count_oom_kills() { # <lines of a /proc/PID/cgroup> -> oom_kills: so many the kernel has killed there
  local line path='' key value IFS=$newline
  oom_kills=-
  for line in $1; do
    case $line in
      # Version 1, which stands beside version 2 on some hosts and has the counters then.
      *:memory:/*) path=/sys/fs/cgroup/memory${line#*:memory:}/memory.oom_control; break ;;
      0::/*) path=/sys/fs/cgroup${line#0::}/memory.events ;;
    esac
  done
  [ -n "$path" ] || return 0
  {
    while IFS=' ' read -r key value; do
      [ "$key" != oom_kill ] || oom_kills=$value
    done <"$path"
  } 2>/dev/null
  return 0
}
