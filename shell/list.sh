#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes records evidence pieces
# list: every job of this user on this host, with nothing changed. No arguments. What is told of a
# job's prompt is enough for a title.

title_limit=2000      # bytes
request_limit=4000000 # bytes; no command could be as long, and what is longer is no request

is_job_id() {
  case $1 in [!a-z]* | *[!a-z0-9]*) return 1 ;; esac
  [ ${#1} = 12 ]
}

main() {
  local path
  begin list
  set +f
  for path in "$root"/*; do
    set -f
    [ -d "$path" ] || continue
    id=${path##*/}
    job=$path
    tombstone=$root/.gone.$id
    if ! is_job_id "$id"; then
      say "other $(encode64 "$id")"
      continue
    fi
    say "job $id"
    tell_pieces request "$job/request" "$request_limit"
    tell_pieces prompt "$job/prompt" "$title_limit"
    look
    tell_evidence
  done
  finish
}

main
