#!/usr/bin/env bats
# The one fault that a test runner cannot see in itself: that a failure is counted as a success.
# What runners write is canned here; the last tests let a whole suite fail.

bats_require_minimum_version 1.5.0

setup() {
  # shellcheck source=tools/counting.bash
  . "$BATS_TEST_DIRNAME/../counting.bash"
  cd "$BATS_TEST_TMPDIR" || return
}

tap() { # <exit status> <line>...
  local status=$1
  shift
  printf '%s\n' "$@" >tap
  count_tap tap "$status" 2>notes
}

@test 'TAP: passed, failed and skipped are told apart' {
  run -0 tap 1 1..4 'ok 1 a' 'not ok 2 b' '# (in test file x.bats, line 3)' 'ok 3 c # skip not root' \
    'ok 4 skip is only in the name'
  [ "$output" = '2 1 1' ]
  [ "$(cat notes)" = "FAILED b
SKIPPED c # skip not root" ]
}

@test 'TAP: planned tests without a result have failed' {
  run -0 tap 1 1..5 'ok 1 a' 'ok 2 b'
  [ "$output" = '2 3 0' ]
}

@test 'TAP: no plan is a crash' {
  run -0 tap 0 'ok 1 a'
  [ "$output" = '1 1 0' ]
  run -0 tap 0 'bats: command not found'
  [ "$output" = '0 1 0' ]
}

@test 'TAP: no test at all is a failure' {
  run -0 tap 0 1..0
  [ "$output" = '0 1 0' ]
}

@test 'TAP: a bad status without a failed test is a failure' {
  run -0 tap 1 1..1 'ok 1 a'
  [ "$output" = '1 1 0' ]
}

# A report and a log with a passed, a cancelled, a skipped and a failed test.
swift_report() {
  printf '%s\n' '<?xml version="1.0" encoding="UTF-8"?>' '<testsuites>' \
    '  <testsuite name="TestResults" errors="0" tests="3" failures="2" skipped="1" time="0.1">' \
    '    <testcase classname="XTests.S" name="passes()" time="0.09" />' \
    '    <testcase classname="XTests.S" name="cancels()" time="0.09" />' \
    '    <testcase classname="XTests.S" name="skipped()" >' \
    '      <skipped>not here</skipped>' \
    '    </testcase>' \
    '    <testcase classname="XTests.S" name="fails(_:)" time="0.09" >' \
    '      <failure message="Expectation failed: (x → 2) == 4 (error)" />' \
    '      <failure message="Expectation failed: (x → 1) == 4 (error)" />' \
    '    </testcase>' '  </testsuite>' '</testsuites>' >report
  printf '%s\n' '✔ Test passes() passed after 0.1 seconds.' \
    '➜ Test skipped() skipped: "not here"' \
    '➜ Test "it was cancelled after 3 seconds" was cancelled after 0.1 seconds: "no program"' \
    '✘ Test fails(_:) with 2 test cases failed after 0.1 seconds with 2 issues.' \
    '✘ Test run with 4 tests in 1 suite failed after 0.2 seconds with 2 issues.' >log
}

@test 'Swift: passed, failed, skipped and cancelled are told apart' {
  swift_report
  run -0 --separate-stderr count_swift report log 1
  [ "$output" = '1 1 2' ]
  # shellcheck disable=SC2154 # run sets it
  [[ $stderr == *'FAILED XTests.S/fails(_:)'* ]]
  [[ $stderr == *'SKIPPED XTests.S/skipped(): not here'* ]]
  [[ $stderr == *'no program'* ]]
}

@test 'Swift: no report, or half of one, is a crash' {
  swift_report
  : >empty
  run -0 --separate-stderr count_swift missing empty 1
  [ "$output" = '0 1 0' ]
  head -n 6 report >half
  run -0 --separate-stderr count_swift half empty 1
  [ "$output" = '0 1 0' ]
}

@test 'Swift: after a crash, what had begun and has no end has failed' {
  printf '%s\n' '◇ Test run started.' '◇ Suite S started.' '◇ Test a() started.' \
    '◇ Test c(_:) started.' '◇ Test case passing 1 argument x → 1 to c(_:) started.' \
    '◇ Test "it hangs" started.' '➜ Test skipped() skipped: "not here"' \
    '✔ Test a() passed after 0.1 seconds.' \
    '✘ Test c(_:) with 3 test cases failed after 0.1 seconds with 2 issues.' >log
  run -0 --separate-stderr count_swift missing log 124
  [ "$output" = '1 2 1' ]
  [[ $stderr == *'FAILED did not end: "it hangs"'* ]]
}

@test 'Swift: a log without its last line is a crash, whatever the report says' {
  swift_report
  grep -v 'Test run with' log >torn
  run -0 --separate-stderr count_swift report torn 1
  [ "$output" = '1 2 2' ]
}

@test 'Swift: no test at all is a failure' {
  printf '%s\n' '<testsuites>' '<testsuite name="TestResults" tests="0">' '</testsuite>' \
    '</testsuites>' >report
  printf '%s\n' '✔ Test run with 0 tests in 0 suites passed after 0.05 seconds.' >log
  run -0 --separate-stderr count_swift report log 0
  [ "$output" = '0 1 0' ]
}

@test 'Swift: a bad status without a failed test is a failure' {
  swift_report
  grep -v 'failure' report >clean
  run -0 --separate-stderr count_swift clean log 1
  [ "$output" = '2 1 2' ]
}

# A copy of the tools with spikes of its own, to run whole.
checkout() {
  mkdir -p checkout/spikes
  cp -R "$BATS_TEST_DIRNAME/.." checkout/tools
  rm -rf checkout/tools/tests
}

@test 'a suite that must fail, fails, and the last line says so' {
  checkout
  printf '@test "good" { true; }\n@test "bad" { false; }\n@test "not here" { skip "no"; }\n' \
    >checkout/spikes/a.bats
  printf '@test "good too" { true; }\n' >checkout/spikes/b.bats
  run -1 checkout/tools/test spikes
  [ "${lines[${#lines[@]} - 1]}" = '2 passed, 1 failed, 1 skipped' ]
  rm checkout/spikes/a.bats
  run -0 checkout/tools/test spikes
  [ "${lines[${#lines[@]} - 1]}" = '1 passed, 0 failed, 0 skipped' ]
}

@test 'a suite that is not there, or is empty, fails' {
  checkout
  run -1 checkout/tools/test spikes
  [ "${lines[${#lines[@]} - 1]}" = '0 passed, 1 failed, 0 skipped' ]
  run -1 checkout/tools/test nothing
  [ "${lines[${#lines[@]} - 1]}" = '0 passed, 1 failed, 0 skipped' ]
}

@test 'a bats file that does not parse fails' {
  checkout
  printf '@test "half" { true\n' >checkout/spikes/a.bats
  run -1 checkout/tools/test spikes
  [[ ${lines[${#lines[@]} - 1]} == '0 passed, '[1-9]*' failed, 0 skipped' ]]
}

@test 'the lane of a library that cannot be had is skipped, and says why' {
  checkout
  printf 'echo "no network here" >&2; exit 1\n' >checkout/tools/unpack-debian
  run -0 checkout/tools/test library
  [ "${lines[${#lines[@]} - 1]}" = '0 passed, 0 failed, 1 skipped' ]
  [[ $output == *'SKIPPED all tests with libssh2 1.11.1: no network here'* ]]
}
