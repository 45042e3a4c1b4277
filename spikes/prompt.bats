#!/usr/bin/env bats
# shellcheck shell=bats
# A long prompt and secrets: exact, and nowhere for others to read.

load harness.bash
load jobs.bash

setup_file() { spikes_start bash tcsh; }
teardown_file() { spikes_stop; }

@test "13 a 2 MB prompt arrives exact" {
  head -c 2000000 /dev/urandom >"$BATS_TEST_TMPDIR/prompt"
  for shell in bash tcsh; do
    need_shell "$shell"
    id=$(new_id)
    export SPIKES_HOST=$shell
    client launch --prompt "$BATS_TEST_TMPDIR/prompt" "$id" cat >/dev/null
    ended_with "$id" code 0
    same_bytes "the prompt, $shell" "$(job_folder "$id")/out.jsonl" "$BATS_TEST_TMPDIR/prompt"
  done
}

@test "13 an empty prompt, and a job that reads none, come to the end of stdin at once" {
  : >"$BATS_TEST_TMPDIR/prompt"
  for option in --prompt="$BATS_TEST_TMPDIR/prompt" --name=none; do
    id=$(new_id)
    client launch "$option" "$id" sh -c 'cat; echo end' >/dev/null
    ended_with "$id" code 0
    expect out "$(cat "$(job_folder "$id")/out.jsonl")" end
  done
}

# Processes in whose arguments $1, or its base64 in any alignment, shows.
in_arguments() {
  local pattern
  pattern=$("$SPIKES_PYTHON" - "$1" <<'PYTHON'
import base64, sys
text = sys.argv[1].encode()
forms = [text.decode()]
for before in range(3):
    # Without the characters that the neighbours have a share in.
    forms.append(base64.b64encode(b"." * before + text).decode()[4 if before else 0:][:-4])
print("\n".join(forms))
PYTHON
  )
  grep -laF -- "$pattern" /proc/[0-9]*/cmdline 2>/dev/null || true
}

@test "13 neither prompt nor secret shows in any process's arguments while the job runs" {
  # Put together here, so that this test's own processes do not show them either.
  prompt_text=tell-me-a-long-$RANDOM-story
  secret_text=very-long-$RANDOM-secret-token
  { yes "$prompt_text" || true; } | head -n 2000 >"$BATS_TEST_TMPDIR/prompt"
  printf 'SPIKE_TOKEN=%s\0SPIKE_OTHER=x\0' "$secret_text" >"$BATS_TEST_TMPDIR/secrets"
  id=$(new_id)
  client launch --prompt "$BATS_TEST_TMPDIR/prompt" --secrets "$BATS_TEST_TMPDIR/secrets" "$id" \
    sh -c 'echo "$SPIKE_TOKEN"; sleep 1000; :' >/dev/null
  spikes_wait 5 has_bytes "$id" out.jsonl 10
  expect 'the secret in the job' "$(cat "$(job_folder "$id")/out.jsonl")" "$secret_text"
  expect 'arguments with the prompt' "$(in_arguments "$prompt_text")" ''
  expect 'arguments with the secret' "$(in_arguments "$secret_text")" ''
  # The search finds what is there: the job's own argument.
  [ -n "$(in_arguments 'echo "$SPIKE_TOKEN"; sleep 1000; :')" ]
  # The secret is in no file but the job's own output, and not in the supervisor's environment.
  expect 'files with the secret' "$(grep -rlaF "$secret_text" "$(home_of host)/.pocket" | grep -v out.jsonl)" ''
  run ! grep -qaF "$secret_text" "/proc/$(started_field "$id" supervisor)/environ"
  # Nobody else may read what is in files.
  expect 'modes' "$(find "$(job_folder "$id")" -perm /077)" ''
}

@test "13 a secret that another launch of the same job brings again is not needed, and nothing is lost" {
  printf 'SPIKE_TOKEN=first\0' >"$BATS_TEST_TMPDIR/secrets"
  id=$(new_id)
  client launch --secrets "$BATS_TEST_TMPDIR/secrets" "$id" sh -c 'echo "$SPIKE_TOKEN"' >/dev/null
  ended_with "$id" code 0
  printf 'SPIKE_TOKEN=second\0' >"$BATS_TEST_TMPDIR/secrets"
  run -0 client launch --secrets "$BATS_TEST_TMPDIR/secrets" "$id" sh -c 'echo "$SPIKE_TOKEN"'
  grep -q '^started again ' <<<"$output"
  expect out "$(cat "$(job_folder "$id")/out.jsonl")" first
}

@test "13 the rendered commands are small enough for one exec request" {
  for verb in launch follow cancel inspect list adopt remove; do
    size=$(client render "$verb" id="$(new_id)" digest="$(printf '%064d' 0)" | wc -c)
    [ "$size" -lt 30000 ] || fail "$verb takes $size bytes"
  done
}
