# shellcheck shell=bash
# How many tests passed, failed and were skipped, read from what a runner wrote. Each function
# prints `<passed> <failed> <skipped>` and, on stderr, one line for each failure and skip. What a
# runner did not report did not pass: a crash, a missing report or no test at all is a failure.

# Adds what a suite's exit status and its emptiness say to its counts.
settle_counts() { # <passed> <failed> <skipped> <exit status>
  local failed=$2
  if [ "$(($1 + $2 + $3))" -eq 0 ]; then
    printf 'FAILED no test ran\n' >&2
    failed=$((failed + 1))
  fi
  if [ "$4" -ne 0 ] && [ "$failed" -eq 0 ]; then
    printf 'FAILED the runner ended with status %s without naming a failed test\n' "$4" >&2
    failed=$((failed + 1))
  fi
  printf '%s %s %s\n' "$1" "$failed" "$3"
}

# TAP (testanything.org), as bats writes it.
count_tap() { # <file> <exit status>
  local counts
  counts=$(LC_ALL=C awk '
    /^1\.\.[0-9]+/ { planned = substr($0, 4) + 0; has_plan = 1; next }
    /^ok / {
      if (match(tolower($0), /# skip/)) {
        skipped++
        name = $0; sub(/^ok [0-9]+ /, "", name); print "SKIPPED " name > "/dev/stderr"
      } else passed++
      next
    }
    /^not ok / {
      failed++
      name = $0; sub(/^not ok [0-9]+ /, "", name); print "FAILED " name > "/dev/stderr"
    }
    END {
      missing = planned - passed - failed - skipped
      if (!has_plan) { missing = 1; print "FAILED no plan: the runner crashed" > "/dev/stderr" }
      else if (missing > 0) print "FAILED " missing " planned tests have no result" > "/dev/stderr"
      if (missing < 0) missing = 0
      print passed + 0, failed + missing, skipped + 0
    }' "$1")
  # shellcheck disable=SC2086 # three words
  settle_counts $counts "$2"
}

# Swift Testing: the xUnit report says which test failed or was skipped. What it calls passed and is
# not, a test that cancelled itself at run time (`Test.cancel`), only the log tells.
count_swift() { # <xunit file> <log> <exit status>
  local counts
  if ! grep -q '</testsuites>' "$1" 2>/dev/null; then
    count_swift_crash "$2"
    return
  fi
  counts=$(LC_ALL=C awk '
    function value(key,   text) {
      if (!match($0, key "=\"[^\"]*\"")) return ""
      text = substr($0, RSTART, RLENGTH); sub(/^[^"]*"/, "", text); sub(/"$/, "", text); return text
    }
    function settle() {
      if (name == "") return
      total++
      if (has_failed) { failed++; print "FAILED " name > "/dev/stderr" }
      else if (is_skipped) { skipped++; print "SKIPPED " name reason > "/dev/stderr" }
      name = ""
    }
    FNR == NR && /<testcase / {
      settle()
      name = value(" classname") "/" value(" name"); has_failed = is_skipped = 0; reason = ""
    }
    FNR == NR && /<(failure|error)[ >]/ { has_failed = 1 }
    FNR == NR && /<skipped/ {
      is_skipped = 1
      if (match($0, />[^<]+</)) reason = ": " substr($0, RSTART + 1, RLENGTH - 2)
    }
    FNR == NR { next }
    { settle() }
    /^[^ ]+ Test .+ was cancelled after [0-9.]+ seconds(:.*|\.)?$/ {
      cancelled++
      sub(/^[^ ]+ Test /, ""); print "SKIPPED " $0 > "/dev/stderr"
    }
    /^[^ ]+ Test run with [0-9]+ tests? / { has_end = 1; reported = $5 + 0 }
    END {
      passed = total - failed - skipped - cancelled
      if (!has_end || reported != total) {
        failed++
        print "FAILED the report has " total + 0 " tests, the log " reported + 0 > "/dev/stderr"
      }
      print passed, failed + 0, skipped + cancelled
    }
  ' "$1" "$2")
  # shellcheck disable=SC2086 # three words
  settle_counts $counts "$3"
}

# The runner crashed or was killed: what had begun and has no end has failed, at least one.
count_swift_crash() { # <log>
  printf 'FAILED no report: the runner crashed or took too long\n' >&2
  LC_ALL=C awk '
    function name(line) {
      sub(/^[^ ]+ Test /, "", line)
      sub(/ (with [0-9]+ test cases? )?(started|passed after|failed after|skipped|was cancelled).*$/,
        "", line)
      return line
    }
    /^[^ ]+ Test (run|case) / { next }
    /^[^ ]+ Test .+ started\.$/ { running[name($0)] = 1 }
    /^[^ ]+ Test .+ passed after [0-9.]+ seconds/ { passed++; delete running[name($0)] }
    /^[^ ]+ Test .+ failed after [0-9.]+ seconds/ {
      failed++; print "FAILED " name($0) > "/dev/stderr"; delete running[name($0)]
    }
    /^[^ ]+ Test .+ (skipped|was cancelled)/ { skipped++; delete running[name($0)] }
    END {
      for (test in running) { unended++; print "FAILED did not end: " test > "/dev/stderr" }
      if (!unended) unended = 1
      print passed + 0, failed + unended, skipped + 0
    }
  ' "$1"
}
