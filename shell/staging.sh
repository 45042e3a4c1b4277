#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# The staging folder: every file is whole there before `ln`, which never overwrites, shows it.

make_staging() {
  local words
  [ -z "$staging" ] || return 0
  words=$(mkdir -p "$root" 2>&1) || fail write "$words"
  words=$(mkdir "$root/.in.$id.$nonce" 2>&1) || fail write "$words"
  staging=$root/.in.$id.$nonce
}

place() { # <file>: to lose to somebody who linked the same name first is no error
  local words
  words=$(ln "$staging/$1" "$job/$1" 2>&1) || [ -e "$job/$1" ] || fail write "$words"
}

forbid_start() { # a job that was not started never will be, once this link is ours
  local words
  words=$(mkdir -p "$job" 2>&1) || fail write "$words"
  make_staging
  words=$( { printf 'cancelled=1\nend=1\n' >"$staging/started"; } 2>&1) || fail write "$words"
  place started
}
