#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: carriers evidence signals
# watch: holds a job to the limits of its request, whoever is connected. Arguments: job directory,
# nonce of the launch. It is a child of the supervisor in a group of its own and carries no cookie.
# The parts that launch uses, and those named above, are read before this text.

read_limits() { # -> timeout (seconds), max_output (bytes), on_max_output; empty is no limit
  local line
  timeout='' max_output='' on_max_output=stop
  while IFS= read -r line; do
    case $line in
      timeout=*) timeout=${line#*=} ;;
      max_output=*) max_output=${line#*=} ;;
      on_max_output=*) on_max_output=${line#*=} ;;
    esac
  done <"$job/request"
  case $timeout$max_output in *[!0-9]*) exit 1 ;; esac
}

wait_for_start() { # a leader may claim the start even when its supervisor was killed meanwhile
  local state parent group session birth supervisor_birth='' left=75
  ! process "$PPID" || supervisor_birth=$birth
  until [ -e "$job/started" ]; do
    if ! process "$PPID" || [ "$birth" != "$supervisor_birth" ]; then left=$((left - 1)); fi
    [ $left -gt 0 ] || exit 0
    nap
  done
}

nap() { # counted, never read off a clock: a machine that is suspended does not run the job either
  # Without a limit on output nothing can happen so fast that a second matters.
  if [ -n "$max_output" ] && sleep 0.2 2>/dev/null; then
    elapsed=$((elapsed + 200))
  else
    sleep 1
    elapsed=$((elapsed + 1000))
  fi
}

prepare() { # all files that a limit will need: the disk may be full by then
  local name
  mkdir "$job/.watch" || exit 1
  for name in timeout output; do printf 'limit=%s end\n' $name >"$job/.watch/$name"; done
  for name in out err; do printf '%39s\n' '' >"$job/.watch/capped.$name"; done
} 2>/dev/null

cap() { # <out|err> <file>: the stream ends here, with a line that says so
  local key value position=''
  # Whoever sees this link believes nothing that was read after it, until `capped` says how far.
  ln "$job/.watch/output" "$job/capping.$1"
  exec 5>>"$2"
  # A newline first, since a writer may be in the middle of a line; all in one write.
  printf '\n{"pocket":"output-limit","stream":"%s","limit":%s,"then":"%s"}\n' \
    "$1" "$max_output" "$on_max_output" >&5
  # Where our own line ends: the file may have grown behind it since.
  while read -r key value; do
    [ "$key" != pos: ] || position=$value
  done </proc/self/fdinfo/5
  exec 5>&-
  if [ -z "$position" ]; then
    file_size "$2"
    position=$size
  fi
  printf '%-39s\n' "size=$position end" 1<>"$job/.watch/capped.$1"
  ln "$job/.watch/capped.$1" "$job/capped.$1"
} 2>/dev/null

cut_back() { # <file> <size>: dd ends a file where its output would begin (POSIX)
  ! file_size "$1" || [ "$size" -le "$2" ] || dd if=/dev/null of="$1" bs=1 seek="$2" count=0 2>/dev/null
}

hold() { # <out|err> <file>: fails when the job is to be ended
  if [ -e "$job/capping.$1" ]; then
    ! read_cap "$1" || cut_back "$2" "$cap"
    return 0
  fi
  file_size "$2" || return 0
  [ "$size" -gt "$max_output" ] || return 0
  cap "$1" "$2"
  [ "$on_max_output" = discard ]
}

hold_output() {
  [ -n "$max_output" ] || return 0
  hold out "$job/out.jsonl" && hold err "$job/err.log"
}

step() { :; } # nobody listens

end_job() { # <timeout|output>
  identify
  case $who in leader | group) ;; *) return ;; esac
  # As with a cancel: the end counts as the limit's when this was linked before the exit record.
  ln "$job/.watch/$1" "$job/limit" 2>/dev/null
  send TERM group 5
  send KILL group 2
  sweep
}

main() {
  local elapsed=0
  job=$1 nonce=$2
  id=${job##*/}
  # Handlers, as the supervisor has them: whoever logs out or stops the job does not stop its limits.
  trap : HUP INT TERM QUIT PIPE
  read_limits
  wait_for_start
  read_started
  [ "$recorded_attempt" = "$nonce" ] || exit 0
  prepare
  while look_at_leader; [ "$leader" = alive ] || [ "$leader" = unknown ]; do
    nap
    if [ -n "$timeout" ] && [ $elapsed -ge $((timeout * 1000)) ]; then
      end_job timeout
      break
    fi
    if ! hold_output; then
      end_job output
      break
    fi
  done
  # What the last of its processes wrote.
  hold_output
  rm -rf "$job/.watch"
}

main "$@"
