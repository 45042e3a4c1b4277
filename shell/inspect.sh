#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes carriers cgroups records causes evidence
# inspect: one look at a job, with nothing changed. Arguments: out_bytes and err_bytes, how many
# leading bytes of each stream to digest, or `-`.

sha256_of() { # <file> <bytes> -> digest, empty when the host has no program for it
  digest=''
  if type -P sha256sum >/dev/null; then
    digest=$(head -c "$2" <"$1" | sha256sum)
  elif type -P shasum >/dev/null; then
    digest=$(head -c "$2" <"$1" | shasum -a 256)
  elif type -P openssl >/dev/null; then
    digest=$(head -c "$2" <"$1" | openssl dgst -sha256 -r)
  fi
  digest=${digest%% *}
}

tell_stream() { # <stream> <file> <bytes>
  local cap
  if ! file_size "$2"; then
    say "size $1 0 -"
    return
  fi
  # What lies behind a limit on output is not the job's.
  if read_cap "$1" && [ "$size" -gt "$cap" ]; then size=$cap; fi
  say "size $1 $size $inode"
  [ "$3" != - ] || return 0
  sha256_of "$2" "$3"
  say "digest $1 $3 ${digest:--}"
}

tell_leftovers() { # each once: a member of the group may carry the cookie too
  local beyond
  # shellcheck disable=SC2086
  carriers_beyond $kin
  # shellcheck disable=SC2086
  tell_processes $kin $beyond
  say "leftover$kin$beyond"
}

main() {
  local kin=''
  begin inspect
  look with-group with-causes
  tell_evidence
  if [ "$directory" = present ]; then
    tell_stream out "$job/out.jsonl" "$out_bytes"
    tell_stream err "$job/err.log" "$err_bytes"
  fi
  [ -z "$record" ] || tell_leftovers
  finish
}

main
