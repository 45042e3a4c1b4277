#!/usr/bin/env bats
# shellcheck shell=bats
# Reading a job's output: from any byte on, interrupted anywhere, never a byte lost, doubled or wrong.

load harness.bash
load jobs.bash

setup_file() { spikes_start; }
teardown_file() { spikes_stop; }

setup() { kept=$BATS_TEST_TMPDIR/kept; }

teardown() {
  if [ -n "${follower:-}" ]; then kill -KILL "$follower" 2>/dev/null || true; fi
}

# A job that has written the files out and err of the test's folder, and ended.
finished_job() { # ID
  put host "$1.out" <"$BATS_TEST_TMPDIR/out"
  put host "$1.err" <"$BATS_TEST_TMPDIR/err"
  launch "$1" sh -c 'cat "$HOME/$1.out"; cat "$HOME/$1.err" >&2' sh "$1"
  ended_with "$1" code 0
}

# Follows from offsets into out and err, as a client does that has committed so much.
follow_from() { # ID OUT-OFFSET ERR-OFFSET
  local into=$BATS_TEST_TMPDIR/from.$2.$3 job
  job=$(job_folder "$1")
  mkdir "$into"
  head -c "$2" "$job/out.jsonl" >"$into/out.0"
  head -c "$3" "$job/err.log" >"$into/err.0"
  follow_all "$1" "$into" || fail "following from $2 and $3"
  same_bytes "out from $2" "$into/out.0" "$job/out.jsonl"
  same_bytes "err from $3" "$into/err.0" "$job/err.log"
  rm -r "$into"
}

# Starts a follow in the background, until somebody ends it.
follow_in_background() { # ID
  "$SPIKES_PYTHON" "$SPIKES_SOURCE/client.py" follow --deadline 120 --into "$kept" "$1" 3>&- &
  follower=$!
}

kept_bytes() { # FILE COUNT: exactly so many were kept
  [ "$(stat -c %s "$kept/$1" 2>/dev/null)" = "$2" ]
}

# The last follow read the reply's end line (an exit record ends with the same word).
followed_to_end() { grep -qsx '[0-9]* end' "$kept/events"; }

# Follows to the end as a client does: again, when a frame was not confirmed or the link broke.
follow_until_end() { # ID
  local tries=0
  until follow_all "$1" "$kept" 2>"$BATS_TEST_TMPDIR/broken"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "$(cat "$BATS_TEST_TMPDIR/broken")"
  done
}

@test "02 a read that begins at 0, 1, around a line end, and at the end gives the same bytes" {
  printf 'first\n\nthird line\r\nfourth without an end' >"$BATS_TEST_TMPDIR/out"
  printf 'e1\ne2\n' >"$BATS_TEST_TMPDIR/err"
  id=$(new_id)
  finished_job "$id"
  # 5 is before the first line's end, 6 after it, 7 after the empty line; 40 is the end.
  expect size "$(size_of "$id" out.jsonl)" 40
  follow_from "$id" 0 0
  follow_from "$id" 1 1
  follow_from "$id" 5 2
  follow_from "$id" 6 3
  follow_from "$id" 7 4
  follow_from "$id" 19 5
  follow_from "$id" 39 5
  follow_from "$id" 40 6
}

@test "02 a read at offsets around 256 and 512 bytes, where the fingerprints change, gives the same bytes" {
  seq 1 400 >"$BATS_TEST_TMPDIR/out"
  seq 900 1000 >"$BATS_TEST_TMPDIR/err"
  id=$(new_id)
  finished_job "$id"
  for offset in 255 256 257 404 511 512 513; do
    # The err stream's frame is of 256 bytes, and of one byte more and less, in some of these.
    follow_from "$id" "$offset" "$((offset < 405 ? offset : 405 - offset + 404))"
  done
}

@test "02 a read that is cut in mid-frame again and again gives the same bytes" {
  head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/out"
  head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/err"
  id=$(new_id)
  finished_job "$id"
  for bytes in 1 1000 65536 299999 300001; do
    client follow --into "$kept" --bytes "$bytes" "$id"
  done
  follow_all "$id" "$kept"
  same_bytes out "$kept/out.0" "$BATS_TEST_TMPDIR/out"
  same_bytes err "$kept/err.0" "$BATS_TEST_TMPDIR/err"
}

@test "02 a running job read by one short-lived follower after another gives the same bytes" {
  id=$(new_id)
  launch "$id" sh -c 'i=0; while [ $i -lt 80 ]; do echo "line $i"; echo "err $i" >&2; i=$((i + 1)); sleep 0.05; done'
  follows=0
  until followed_to_end; do
    client follow --into "$kept" --seconds "0.$((follows % 9 + 1))" "$id" >/dev/null
    follows=$((follows + 1))
    [ "$follows" -lt 60 ]
  done
  [ "$follows" -gt 3 ] || fail "only $follows follows"
  same_bytes out "$kept/out.0" "$(job_folder "$id")/out.jsonl"
  same_bytes err "$kept/err.0" "$(job_folder "$id")/err.log"
  expect 'lines' "$(wc -l <"$kept/out.0")" 80
}

@test "02 a client that is stopped and continued in mid-read gets the same bytes" {
  id=$(new_id)
  launch "$id" sh -c 'until [ -e "$HOME/$1.enough" ]; do head -c 1000000 /dev/urandom; sleep 0.1; done' sh "$id"
  follow_in_background "$id"
  for _ in 1 2 3; do
    sleep 0.6
    ssh=$(ps -o pid= --ppid "$follower" | tr -d ' ')
    kill -STOP "$follower" "$ssh"
    sleep 0.8
    kill -CONT "$ssh" "$follower"
  done
  put host "$id.enough" </dev/null
  wait "$follower"
  same_bytes out "$kept/out.0" "$(job_folder "$id")/out.jsonl"
  [ "$(stat -c %s "$kept/out.0")" -gt 5000000 ]
}

@test "02 a stream that begins while it is followed, and a tail without a line end, arrive" {
  id=$(new_id)
  launch "$id" sh -c 'sleep 1; printf begun; sleep 1; printf " and ended"; printf tail >&2'
  follow_all "$id" "$kept"
  expect out "$(cat "$kept/out.0")" 'begun and ended'
  expect err "$(cat "$kept/err.0")" tail
}

@test "03 Korean and emoji cut at every byte lose nothing" {
  printf '{"글":"안녕 👋🏽"}\n{"말":"잘 가 👨‍👩‍👧"}\n' >"$BATS_TEST_TMPDIR/out"
  printf '경고\n' >"$BATS_TEST_TMPDIR/err"
  id=$(new_id)
  finished_job "$id"
  size=$(size_of "$id" out.jsonl)
  [ "$size" -gt 60 ]
  # One connection for all of them, four at a time.
  ssh -F "$SPIKES_SSH_CONFIG" -M -S "$BATS_TEST_TMPDIR/control" -N host 3>&- &
  follower=$!
  spikes_wait 10 test -S "$BATS_TEST_TMPDIR/control"
  { printf 'Host *\n  ControlPath %s/control\n' "$BATS_TEST_TMPDIR"; cat "$SPIKES_SSH_CONFIG"; } \
    >"$BATS_TEST_TMPDIR/ssh_config"
  SPIKES_SSH_CONFIG=$BATS_TEST_TMPDIR/ssh_config
  offset=0
  while [ "$offset" -le "$size" ]; do
    pids=()
    for part in 0 1 2 3; do
      [ $((offset + part)) -le "$size" ] || continue
      follow_from "$id" $((offset + part)) $(((offset + part) % 8)) &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done
    offset=$((offset + 4))
  done
}

@test "03 Korean and emoji that a job writes byte by byte arrive whole" {
  id=$(new_id)
  launch "$id" bash -c 'for b in ea b0 80 f0 9f 91 8b eb 82 98 0a; do printf "\\x$b"; sleep 0.2; done'
  until followed_to_end; do
    client follow --into "$kept" --seconds 0.7 "$id" >/dev/null
  done
  expect out "$(cat "$kept/out.0")" '가👋나'
}

# A job that has written 30 bytes to out and goes on; a follower that has them.
followed_job() { # ID
  launch "$1" sh -c 'printf "one two three four five six se"; while [ ! -e "$HOME/$0.go" ]; do sleep 0.1; done; echo " more"' "$1"
  spikes_wait 5 has_bytes "$1" out.jsonl 30
  follow_in_background "$1"
  spikes_wait 10 kept_bytes out.0 30
}

go_on() { # ID
  put host "$1.go" </dev/null
  ended_with "$1" code 0
}

@test "20 a file that is shrunk while it is followed is a gap" {
  id=$(new_id)
  followed_job "$id"
  truncate -s 7 "$(job_folder "$id")/out.jsonl"
  spikes_wait 10 grep -q ' gap out 0 shrunk 30 7$' "$kept/events"
  go_on "$id"
  wait "$follower"
  expect 'generation 0' "$(cat "$kept/out.0")" 'one two three four five six se'
  expect 'generation 1' "$(cat "$kept/out.1")" 'one two more'
}

@test "20 a file that is replaced while it is followed is a gap" {
  id=$(new_id)
  followed_job "$id"
  printf 'one two three four five six seven eight' | put host replacement
  mv "$(home_of host)/replacement" "$(job_folder "$id")/out.jsonl"
  spikes_wait 10 grep -q ' gap out 0 replaced 30 39$' "$kept/events"
  go_on "$id"
  wait "$follower"
  expect 'generation 0' "$(cat "$kept/out.0")" 'one two three four five six se'
  expect 'generation 1' "$(cat "$kept/out.1")" 'one two three four five six seven eight'
}

@test "20 a file that is missing while it is followed is a gap" {
  id=$(new_id)
  followed_job "$id"
  rm "$(job_folder "$id")/out.jsonl"
  spikes_wait 10 grep -q ' gap out 0 missing 30 ' "$kept/events"
  go_on "$id"
  wait "$follower" || follow_until_end "$id"
  expect 'generation 0' "$(cat "$kept/out.0")" 'one two three four five six se'
  expect 'generation 1' "$(cat "$kept/out.1")" ''
}

@test "20 a file that was rewritten, and then did not grow, is a gap" {
  # No frame would show it: the fingerprint alone does.
  printf 'as it is now\n' >"$BATS_TEST_TMPDIR/out"
  : >"$BATS_TEST_TMPDIR/err"
  id=$(new_id)
  finished_job "$id"
  mkdir "$kept"
  printf 'as it was ..\n' >"$kept/out.0"
  follow_all "$id" "$kept"
  grep -q ' gap out 0 rewritten 13 13$' "$kept/events" || fail "$(cat "$kept/events")"
  expect 'generation 1' "$(cat "$kept/out.1")" 'as it is now'
}

@test "20 a file that was shrunk, replaced, or rewritten at the same size while nobody followed is a gap" {
  for how in shrunk replaced rewritten; do
    id=$(new_id)
    kept=$BATS_TEST_TMPDIR/$how
    followed_job "$id"
    kill -KILL "$follower"
    wait "$follower" || true
    file=$(job_folder "$id")/out.jsonl
    printf 'ONE two three four five six se' >"$BATS_TEST_TMPDIR/other"
    case $how in
      shrunk) truncate -s 7 "$file" ;;
      replaced) put host replacement <"$file" && mv "$(home_of host)/replacement" "$file" ;;
      rewritten) dd if="$BATS_TEST_TMPDIR/other" of="$file" conv=notrunc status=none ;;
    esac
    go_on "$id"
    follow_until_end "$id"
    grep -q " gap out 0 $how 30 " "$kept/events" || fail "$how: $(cat "$kept/events")"
    expect "$how: generation 0" "$(cat "$kept/out.0")" 'one two three four five six se'
    expect "$how: generation 1" "$(cat "$kept/out.1")" "$(cat "$file")"
  done
}

@test "20 a job that writes to /dev/stdout rewrites its own file: a gap, and never wrong bytes" {
  id=$(new_id)
  launch "$id" bash -c 'echo first; sleep 2; echo second >/dev/stdout; sleep 2; echo third >>/dev/stdout; sleep 1'
  follow_until_end "$id"
  expect 'generation 0' "$(cat "$kept/out.0")" first
  grep -q ' gap out 0 \(shrunk\|rewritten\) 6 ' "$kept/events"
  last=$(find "$kept" -name 'out.[0-9]*' ! -name '*.inode' | sort -t. -k2n | tail -n 1)
  same_bytes 'the last generation' "$last" "$(job_folder "$id")/out.jsonl"
}

@test "20 a file that is truncated and regrown under a follower all the time never gives spliced bytes" {
  id=$(new_id)
  # Every rewrite carries its number in every line, so that bytes of two of them show.
  launch "$id" bash -c 'i=0; while [ ! -e "$HOME/$0.go" ]; do i=$((i + 1)); for j in $(seq 1 $((RANDOM % 400 + 1))); do echo "$i.$j"; done >/dev/stdout; sleep 0.$((RANDOM % 4)); done' "$id"
  follow_until_end "$id" &
  follower=$!
  spikes_wait 60 test -e "$kept/out.6" || fail "only $(ls "$kept")"
  go_on "$id"
  wait "$follower"
  for file in "$kept"/out.*; do
    case $file in *.inode) continue ;; esac
    awk -F. 'NR == 1 { first = $1 } $1 != first || $2 != NR { exit 1 }' <(sed '$d' "$file") \
      || fail "${file##*/} mixes rewrites: $(cut -d. -f1 "$file" | uniq -c | head -n 5)"
  done
  last=$(find "$kept" -name 'out.[0-9]*' ! -name '*.inode' | sort -t. -k2n | tail -n 1)
  same_bytes 'the last generation' "$last" "$(job_folder "$id")/out.jsonl"
}

@test "20 a file that ends before the size in the exit record is reported as short" {
  printf '1234567890' >"$BATS_TEST_TMPDIR/out"
  printf 'err' >"$BATS_TEST_TMPDIR/err"
  id=$(new_id)
  finished_job "$id"
  truncate -s 4 "$(job_folder "$id")/out.jsonl"
  follow_all "$id" "$kept"
  expect out "$(cat "$kept/out.0")" 1234
  expect err "$(cat "$kept/err.0")" err
  grep -q ' short out 4 10$' "$kept/events"
}

@test "21 an idle follower forks nothing between heartbeats" {
  strace -o /dev/null true 2>/dev/null || skip 'strace is not installed, or may not trace here'
  id=$(new_id)
  launch "$id" sleep 1000
  follow_in_background "$id"
  spikes_wait 10 grep -q ' beat ' "$kept/events"
  attach=()
  for pid in $(pgrep -f "id='$id'"); do attach+=(-p "$pid"); done
  [ "${#attach[@]}" -ge 4 ] || fail 'pump and watchdog are not there'
  timeout -s INT 12 strace -qq -ttt -e trace=clone,clone3,fork,vfork,write -s 40 \
    -o "$BATS_TEST_TMPDIR/trace" "${attach[@]}" 3>&- || true
  # A beat asks for sizes and may fork for it just before it is written.
  awk '
    / beat / { beat = $2; for (i = 1; i <= n; i++) if (beat - fork[i] > 0.7) bad++; total += n; n = 0; beats++ }
    /(clone|clone3|fork|vfork)\(/ { fork[++n] = $2 }
    END { print total " forks in " beats " beats, " bad + 0 " of them elsewhere"; exit bad > 0 || beats < 3 }
  ' "$BATS_TEST_TMPDIR/trace"
}
