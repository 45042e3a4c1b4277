#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# What every verb begins with. The arguments (nonce, id, ...) are assigned ahead of this text.
#
# Descriptors, from the command that started us: 7 is the client's stdin, 8 its stdout. 1 and 2 are
# the channel's stderr, where noise may go.

# POSIXLY_CORRECT from the user's environment would switch on posix mode even under `bash -p`.
set +o posix
# Values are never patterns; the loops over /proc switch globbing on for themselves.
set -f

# The job gets these back just before its command is executed.
user_umask=$(umask)
user_path=$PATH
user_lc_all=${LC_ALL+=$LC_ALL}
umask 077
PATH=$PATH:/usr/bin:/bin
export LC_ALL=C

root=$HOME/.pocket/jobs
job=$root/$id
tombstone=$root/.gone.$id
staging=
newline='
'

say() { # <word> <field>...
  printf '%s %s\n' "$nonce" "$*" >&8
}

begin() { # <verb>
  # A startup file may have left half a line on the channel: a newline of our own ends it.
  printf '\n' >&8
  say begin "$1" 1
}

encode64() { # <text>
  printf %s "$1" | base64 | tr -d '\n'
}

decode64() { # <base64> -> decoded
  # The `x` keeps newlines at the end, which a command substitution would drop.
  decoded=$(printf %s "$1" | base64 -d && printf x)
  decoded=${decoded%x}
}

finish() {
  [ -z "$staging" ] || rm -rf "$staging"
  say end
  exit 0
}

fail() { # <kind> <words>
  say "error $1 $(encode64 "$2")"
  finish
}

pause() { # about a tenth of a second; a whole one where sleep knows no fractions
  sleep 0.1 2>/dev/null || sleep 1
}

file_size() { # <path> -> size (bytes) and inode; fails when there is no file
  local listing
  size='' inode=''
  listing=$(ls -lnid -- "$1" 2>/dev/null) || return 1
  # shellcheck disable=SC2086
  set -- $listing
  inode=$1 size=$6
  [ -n "$size" ]
}
