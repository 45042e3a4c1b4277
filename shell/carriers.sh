#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# The processes of a job that its group does not hold, and who they are.

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

carriers_beyond() { # <pid>... -> beyond: carriers of the cookie that are none of these
  local pid carriers
  beyond=''
  cookie_carriers
  for pid in $carriers; do
    case " $* " in *" $pid "*) ;; *) beyond="$beyond $pid" ;; esac
  done
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
