#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes records evidence pieces
# adopt: all that a client which did not make the job needs to follow it, with nothing changed. No
# arguments.

main() {
  begin adopt
  [ -d "$job" ] || fail missing "$job is not there"
  tell_pieces request "$job/request"
  tell_pieces prompt "$job/prompt"
  look
  if [ "$start" = claimed ] && is_process_number "$recorded_pid" \
    && is_process_number "$recorded_group" && [ -n "$recorded_attempt" ]; then
    say "started again $recorded_pid $recorded_group $recorded_attempt"
  fi
  tell_evidence
  finish
}

main
