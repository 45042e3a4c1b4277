#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# What the job directory records: the start and the end (docs/job-directory.md).

read_started() { # -> start, recorded_*
  local line key value complete=''
  start=none refusal='' refusal_words=''
  recorded_pid='' recorded_group='' recorded_session='' recorded_birth='' recorded_boot=''
  recorded_init='' recorded_host='' recorded_machine='' recorded_supervisor=''
  recorded_supervisor_birth='' recorded_attempt='' recorded_cgroup='' recorded_oom_kills=''
  [ -e "$job/started" ] || return 0
  while IFS= read -r line; do
    key=${line%%=*} value=${line#*=}
    case $key in
      cancelled) start=cancelled ;;
      refused) start=refused refusal=$value ;;
      words) refusal_words=$value ;;
      pid) start=claimed recorded_pid=$value ;;
      pgid) recorded_group=$value ;;
      sid) recorded_session=$value ;;
      birth) recorded_birth=$value ;;
      boot) recorded_boot=$value ;;
      init) recorded_init=$value ;;
      host) recorded_host=$value ;;
      machine) recorded_machine=$value ;;
      supervisor) recorded_supervisor=$value ;;
      supervisor_birth) recorded_supervisor_birth=$value ;;
      attempt) recorded_attempt=$value ;;
      cgroup) recorded_cgroup=$value ;;
      oom_kills) recorded_oom_kills=$value ;;
      end) complete=yes ;;
    esac
  done <"$job/started"
  # It was whole when it was linked, so that its disk has lost it since: the command may have run, and
  # nothing is left that a signal could rest on.
  if [ "$complete" != yes ] || [ "$start" = none ]; then start=damaged recorded_pid=''; fi
}

read_exit() { # -> record: the exit record's text, empty when there is none
  record=''
  { read -r record <"$job/exit"; } 2>/dev/null
  case $record in 'v=1 '*' end') return 0 ;; esac
  record=''
  return 1
}

read_cap() { # <out|err> -> cap: where the limit on output ended the stream; fails when it did not
  local line=''
  cap=''
  { read -r line <"$job/capped.$1"; } 2>/dev/null
  case $line in 'size='*' end') cap=${line#size=} cap=${cap%% *} ;; *) return 1 ;; esac
}

is_process_number() {
  case $1 in '' | *[!0-9]* | ??????????*) return 1 ;; esac
  [ "$1" -gt 1 ]
}
