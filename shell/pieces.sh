#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# Files in lines of a reply, which may be no longer than 64 KiB.

piece_limit=30000 # bytes; four thirds of that as base64

tell_pieces() { # <word> <file> [<bytes>]: the file, or its beginning, as `<word> <size> <base64>`...
  local size inode wanted start=0 count
  file_size "$2" || return 0
  wanted=$size
  if [ -n "${3-}" ] && [ "$size" -gt "$3" ]; then wanted=$3; fi
  [ "$wanted" -gt 0 ] || say "$1 0 "
  while [ "$start" -lt "$wanted" ]; do
    count=$((wanted - start))
    [ "$count" -le "$piece_limit" ] || count=$piece_limit
    say "$1 $size $({ dd bs=1 skip="$start" count=0 2>/dev/null; head -c "$count"; } <"$2" | base64 | tr -d '\n')"
    start=$((start + count))
  done
}
