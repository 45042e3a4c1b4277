#!/usr/bin/env bats
# shellcheck shell=bats
# What a client that did not make a job is told of it.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

# told WORD ID <reply: what the pieces of a word in a job's part of the reply join to.
told() {
  awk -v word="$1" -v id="$2" '
    $1 == "job" || $1 == "other" { here = ($1 == "job" && $2 == id) }
    here && $1 == word { print $3 }' | while IFS= read -r piece; do
    printf %s "$piece" | base64 -d
  done
}

@test "23 a list names every job with its whole request, however long, and the beginning of its prompt" {
  id=$(new_id)
  # Twice what one line of a reply may hold.
  head -c 70000 /dev/urandom | base64 | tr -d '\n' >"$BATS_TEST_TMPDIR/long"
  head -c 70000 /dev/urandom >"$BATS_TEST_TMPDIR/prompt"
  launch --prompt "$BATS_TEST_TMPDIR/prompt" "$id" true "$(cat "$BATS_TEST_TMPDIR/long")"
  ended_with "$id" code 0
  client ask list >"$BATS_TEST_TMPDIR/reply"
  told request "$id" <"$BATS_TEST_TMPDIR/reply" >"$BATS_TEST_TMPDIR/request"
  same_bytes request "$BATS_TEST_TMPDIR/request" "$(job_folder "$id")/request"
  told prompt "$id" <"$BATS_TEST_TMPDIR/reply" >"$BATS_TEST_TMPDIR/beginning"
  head -c 2000 "$BATS_TEST_TMPDIR/prompt" >"$BATS_TEST_TMPDIR/wanted"
  same_bytes 'beginning of the prompt' "$BATS_TEST_TMPDIR/beginning" "$BATS_TEST_TMPDIR/wanted"
  expect 'longest line' "$(awk 'length > 60000' "$BATS_TEST_TMPDIR/reply" | wc -l)" 0
}

@test "23 adopt gives request and prompt byte for byte, who started the job, and the evidence" {
  id=$(new_id)
  head -c 70000 /dev/urandom >"$BATS_TEST_TMPDIR/prompt"
  launch --prompt "$BATS_TEST_TMPDIR/prompt" "$id" sleep 1000
  { echo "job $id"; client ask adopt "id=$id"; } >"$BATS_TEST_TMPDIR/reply"
  for word in request prompt; do
    told $word "$id" <"$BATS_TEST_TMPDIR/reply" >"$BATS_TEST_TMPDIR/got"
    same_bytes $word "$BATS_TEST_TMPDIR/got" "$(job_folder "$id")/$word"
  done
  grep -qx "started again $(started_field "$id" pid) $(started_field "$id" pgid) $(started_field "$id" attempt)" \
    "$BATS_TEST_TMPDIR/reply"
  grep -q '^evidence directory=present start=claimed ' "$BATS_TEST_TMPDIR/reply"
  cancel "$id" grace=1
}

@test "23 what is no job, or half of one, is named and is in nobody's way" {
  id=$(new_id) half=$(new_id) torn=$(new_id)
  launch "$id" true
  ended_with "$id" code 0
  jobs=$(home_of host)/.pocket/jobs
  mkdir "$jobs/notes of mine" "$jobs/$half" "$jobs/$torn"
  printf 'digest=00' >"$jobs/$torn/request"
  : >"$jobs/file"
  chown -R --reference="$(home_of host)" "$jobs"
  client ask list >"$BATS_TEST_TMPDIR/reply"
  expect others "$(sed -n 's/^other //p' "$BATS_TEST_TMPDIR/reply" | base64 -d)" 'notes of mine'
  expect 'request of the half one' "$(told request "$half" <"$BATS_TEST_TMPDIR/reply")" ''
  expect 'request of the torn one' "$(told request "$torn" <"$BATS_TEST_TMPDIR/reply")" 'digest=00'
  told request "$id" <"$BATS_TEST_TMPDIR/reply" >"$BATS_TEST_TMPDIR/got"
  same_bytes request "$BATS_TEST_TMPDIR/got" "$jobs/$id/request"
  run -0 client ask adopt "id=$(new_id)"
  grep -q '^error missing ' <<<"$output"
  rm -r "$jobs/notes of mine" "${jobs:?}/$half" "${jobs:?}/$torn" "$jobs/file"
}
