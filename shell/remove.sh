#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes records evidence staging
# remove: deletes the job directory of a job that is over. No arguments. The tombstone comes first,
# so that a launch which is still on its way finds it.

main() {
  local words tries=0
  trap : PIPE
  begin remove
  if [ ! -e "$tombstone" ]; then
    [ -e "$job/started" ] || forbid_start
    look with-group
    if [ "$start" = claimed ]; then
      [ "$machine" != other ] || fail elsewhere "the job belongs to $recorded_host"
      if [ -z "$record" ] && ! is_past \
        && { [ "$leader" = alive ] || [ "$supervisor" = alive ] || [ "$leader" = unknown ]; }; then
        fail running 'the job is still running'
      fi
    elif [ "$start" = damaged ] && [ -z "$record" ]; then
      fail running "$job/started is damaged, so that nobody can tell whether the job still runs"
    fi
    words=$( { : >"$tombstone"; } 2>&1) || fail write "$words"
  fi
  # A launch that passed the tombstone check may still be linking files.
  while [ -e "$job" ] && [ $tries -lt 20 ]; do
    words=$(rm -rf "$job" 2>&1)
    tries=$((tries + 1))
    [ ! -e "$job" ] || pause
  done
  [ ! -e "$job" ] || fail write "$words"
  say removed
  finish
}

main
