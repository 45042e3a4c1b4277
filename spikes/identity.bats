#!/usr/bin/env bats
# shellcheck shell=bats
# Whose job it is, and whose process: the `started` link alone decides who runs the command, and what
# it holds must fit before anything is signalled.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

runs() { grep -c '' "$(home_of host)/ran.$1" 2>/dev/null || true; }

# In the PATH of the login: an `ln` that links `started` only once two of them are about to.
hold_back_started() {
  printf 'PATH=$HOME/held:$PATH\n' | put host .bash_profile
  put host held/ln 755 <<'LN'
#!/bin/bash
for name; do :; done
if [ "${name##*/}" = started ]; then
  : >"$HOME/held/waits.$$"
  until [ "$(ls "$HOME/held" | grep -c waits)" -ge 2 ]; do sleep 0.1; done
fi
PATH=/usr/bin:/bin exec ln "$@"
LN
}

two_leaders_wait() { [ "$(find "$(home_of host)/held" -name 'waits.*' | wc -l)" = 2 ]; }

@test "08 of two leaders that are about to start the command, one runs it" {
  hold_back_started
  id=$(new_id)
  for _ in 1 2; do
    client launch "$id" sh -c 'echo ran >>"$HOME/ran.$0"; sleep 1' "$id" >/dev/null &
  done
  # A launch that only made the directory has no claim: the second one waits 2 s and goes on.
  spikes_wait 20 two_leaders_wait || fail 'the second launch started no leader'
  wait
  rm "$(home_of host)/.bash_profile"
  ended_with "$id" code 0
  # Time for a second one to show itself.
  sleep 1
  expect runs "$(runs "$id")" 1
}

@test "04 a job of an earlier boot is not signalled, and its leader counts as gone" {
  id=$(new_id)
  # Without the cookie, by which the sweep would find it.
  launch "$id" env -i sleep 1000
  leader=$(started_field "$id" pid)
  sed -i 's/^boot=.*/boot=00000000-0000-0000-0000-000000000000/' "$(job_folder "$id")/started"
  # Everything else fits: only the boot tells that this pid, its group and its start are another's.
  inspect "$id" | grep -q '^evidence .* boot=other init=same leader=gone supervisor=gone ' || fail "$(inspect "$id")"
  run -0 cancel "$id" interrupt=yes grace=1
  run ! grep -q '^step \(INT\|TERM\|KILL\)$' <<<"$output"
  lives "$leader"
  kill -KILL "$leader"
}
