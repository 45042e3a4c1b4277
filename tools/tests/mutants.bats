#!/usr/bin/env bats
# The judge of the mutants must itself notice: a mutant that survives, one that does not apply, a
# test that is not there, a test that is red anyway.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  mkdir -p checkout/shell checkout/spikes checkout/mutants
  cp -R "$BATS_TEST_DIRNAME/.." checkout/tools
  cd checkout || return
  printf '%s\n' 'answer() {' '  printf yes' '}' >shell/answer.sh
  # shellcheck disable=SC2016 # the suite itself expands it
  printf '%s\n' '@test "the answer is yes" { . shell/answer.sh; [ "$(answer)" = yes ]; }' \
    '@test "nothing is looked at" { true; }' '@test "always red" { false; }' \
    '@test "not here" { skip "never"; }' >spikes/answer.bats
  git init -q .
}

mutant() { # <name> <line of Test:>
  printf '%s\n' "Mutant: says no" "Test: $2" '' \
    'diff --git a/shell/answer.sh b/shell/answer.sh' '--- a/shell/answer.sh' \
    '+++ b/shell/answer.sh' '@@ -1,3 +1,3 @@' ' answer() {' '-  printf yes' '+  printf no' ' }' \
    >"mutants/$1.patch"
}

@test 'a mutant that its test notices is ok' {
  mutant a 'spikes answer.bats the answer is yes'
  run -0 tools/mutants
  [ "$output" = '1..1
ok 1 a: says no: noticed by spikes answer.bats the answer is yes' ]
  # The checkout itself was not touched.
  grep -q 'printf yes' shell/answer.sh
}

@test 'a mutant that survives is not ok, and the next one is tried on clean code' {
  mutant a 'spikes answer.bats nothing is looked at'
  mutant b 'spikes answer.bats the answer is yes'
  run -0 tools/mutants
  [[ ${lines[1]} == 'not ok 1 '*'not noticed by'* ]]
  [[ ${lines[2]} == 'ok 2 '* ]]
}

@test 'a patch that does not apply is not ok' {
  mutant a 'spikes answer.bats the answer is yes'
  sed -i.old 's/printf yes/printf YES/' mutants/a.patch
  run -0 tools/mutants
  [[ ${lines[1]} == 'not ok 1 '*'does not apply'* ]]
}

@test 'a test that is red without the mutant, missing, or not named proves nothing' {
  mutant a 'spikes answer.bats always red'
  mutant b 'spikes answer.bats no such test'
  mutant c 'spikes no-such-file.bats x'
  mutant d ''
  mutant e 'elsewhere answer.bats x'
  run -0 tools/mutants
  [ "$(grep -c '^not ok' <<<"$output")" = 5 ]
  [[ ${lines[1]} == *'red' ]]
  [[ ${lines[2]} == *'no such test' ]]
}

@test 'a test that is skipped here makes the mutant skipped, not caught' {
  mutant a 'spikes answer.bats not here'
  run -0 tools/mutants
  [[ ${lines[1]} == 'ok 1 '*'# skip'* ]]
}

@test 'no mutants at all is a failure' {
  run -1 tools/mutants
  [ "$output" = 1..0 ]
}
