#!/usr/bin/env bats
# shellcheck shell=bats
# The same facts with busybox utilities first on PATH: parts of the other suites, run again.

load harness.bash

# The tests of suite $1 whose names match $2.
with_busybox() {
  command -v busybox >/dev/null || skip 'busybox is not installed'
  local status=0
  # A bats of its own: without the variables of this one, and without its inner programs on PATH.
  env -i PATH="${PATH#"$BATS_LIBEXEC:"}" HOME="$HOME" TMPDIR="${TMPDIR:-/tmp}" LANG="${LANG:-C.UTF-8}" \
    SPIKES_UTILITIES=busybox SPIKES_SHELL_DIR="${SPIKES_SHELL_DIR:-}" \
    bats --tap -f "$2" "$BATS_TEST_DIRNAME/$1.bats" >"$BATS_TEST_TMPDIR/tap" 2>&1 3>&- || status=$?
  cat "$BATS_TEST_TMPDIR/tap"
  [ "$status" = 0 ]
  # A filter that matches nothing, or nothing but what is skipped, proves nothing.
  grep -v '# skip' "$BATS_TEST_TMPDIR/tap" | grep -q '^ok '
}

@test "17 busybox first on PATH: the command runs once" {
  with_busybox launch_once '^08 (a job that is launched twice|five|a payload)'
}

@test "17 busybox first on PATH: the exit record" {
  with_busybox exit_record '^(10 SIGKILL|11 exit 0|12 .*tmpfs|18 what comes)'
}

@test "17 busybox first on PATH: following" {
  with_busybox follow '^(02 a read that begins|02 a running job|20 a file that is (shrunk|truncated)|21)'
}

@test "17 busybox first on PATH: cancel" {
  with_busybox cancel '^(04 cancel leaves|04 a job that has ended|15 a leader)'
}

@test "17 busybox first on PATH: the evidence of a state" {
  with_busybox states '^23 (a job that runs|supervisor and group|lost on .*tmpfs)'
}

@test "17 busybox first on PATH: words, prompts and the login's settings" {
  with_busybox quoting '^05 (arguments.*fish|prompt.*dash)'
}

@test "17 busybox first on PATH: what a host tells of itself" {
  with_busybox doctor '^22 (a program is asked|nothing is left|an interactive shell that never)'
}

@test "17 busybox first on PATH: a 2 MB prompt and secrets" {
  with_busybox prompt '^13 (a 2 MB|neither)'
}

@test "17 busybox first on PATH: limits" {
  with_busybox limits '^24 (dd|a job that takes|output beyond)'
}
