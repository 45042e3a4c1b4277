#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes records evidence
# list: every job of this user on this host, with nothing changed. No arguments.

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
    say "job $id"
    [ ! -r "$job/request" ] || say "request $(base64 <"$job/request" | tr -d '\n')"
    look
    tell_evidence
  done
  finish
}

main
