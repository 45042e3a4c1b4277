#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# Where jobs live, as a disk: how much room there is, of what kind it is, whether it takes files.

mount_type() { # <mount point> -> type: the file system's, or nothing
  local device point kind rest
  type=''
  if [ -r /proc/mounts ]; then
    while read -r device point kind rest; do
      # A later mount covers an earlier one. Blanks are written as octal numbers there.
      [ "$point" = "${1// /\\040}" ] && type=$kind
    done </proc/mounts
  elif ask 5 mount; then
    rest=${answer#*" on $1 ("}
    [ "$rest" = "$answer" ] || type=${rest%%[,)]*}
  fi
}

tell_storage() {
  local place=$root folder words type
  while [ ! -d "$place" ] && [ -n "$place" ]; do place=${place%/*}; done
  place=${place:-/}
  # A dead file server keeps whoever asks waiting.
  if ask 10 df -Pk "$place"; then
    words=${answer##*"$newline"}
    mount_type "${words##*[%-] }"
    # shellcheck disable=SC2086
    set -- $words
    fact disk "${4-}" "${2-}" "$type" "$place"
  fi
  if ask 10 df -Pi "$place"; then
    words=${answer##*"$newline"}
    case $answer in
      # BSD's has other columns.
      *Inodes*"$newline"*)
        # shellcheck disable=SC2086
        set -- $words
        fact inodes "${4-}" "${2-}"
        ;;
    esac
  fi
  # Beside the jobs, or where their folder would come to be.
  folder=$place/.in.doctor.$nonce
  staging=$folder
  if words=$(mkdir "$folder" 2>&1) && words=$( { printf x >"$folder/one"; } 2>&1); then
    fact writable yes
    words=$(ln "$folder/one" "$folder/two" 2>&1) && words=yes
    fact links "$words"
  else
    fact writable "$words"
  fi
  rm -rf "$folder"
  staging=
}
