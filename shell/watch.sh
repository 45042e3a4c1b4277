#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: carriers evidence signals
# watch: holds a job to the limits of its request, whoever is connected. Arguments: job directory,
# nonce of the launch; interrupt is assigned ahead of this text (yes: INT to the leader first, as in a
# cancel). It is a child of the supervisor in a group of its own and carries no cookie.
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
  local state parent group session birth supervisor_birth=''
  ! process "$PPID" || supervisor_birth=$birth
  until [ -e "$job/started" ]; do
    if [ $elapsed -ge 15000 ]; then
      if ! process "$PPID" || [ "$birth" != "$supervisor_birth" ]; then leave; fi
    fi
    nap
  done
  elapsed=0
}

read_uptime() { # -> uptime, in milliseconds; 0 where the host does not tell
  local seconds='' hundredths=''
  { IFS=' .' read -r seconds hundredths _ </proc/uptime; } 2>/dev/null
  uptime=0
  [ -z "$seconds" ] || uptime=$((10#$seconds * 1000 + 10#$hundredths * 10))
}

nap() { # -> elapsed, in milliseconds: counted, never read off a clock that can be set
  local length=1 counted=1000 before=$uptime
  # Without a limit on output nothing can happen so fast that a second matters.
  if [ -n "$max_output" ]; then
    length=0.2 counted=200
    [ -z "$hurry" ] || length=0.05 counted=50
  fi
  hurry=
  sleep $length 2>/dev/null || { sleep 1; counted=1000; }
  read_uptime
  # What took much longer was no nap: the machine was suspended, and the job with it.
  if [ $((uptime - before)) -gt $counted ] && [ $((uptime - before)) -lt 5000 ]; then
    counted=$((uptime - before))
  fi
  elapsed=$((elapsed + counted))
}

prepare() { # all files that a limit will need: the disk may be full when it strikes
  local name
  prepared=$job/.watch.$nonce
  mkdir "$prepared"
  for name in timeout output; do printf 'limit=%s end\n' $name >"$prepared/$name"; done
  for name in out err; do printf '%39s\n' '' >"$prepared/capped.$name"; done
} 2>/dev/null

leave() {
  rm -rf "$prepared"
  exit 0
}

cap() { # <out|err> <file>: the stream ends here, with a line that says so
  local key value position=''
  # Whoever sees this link believes nothing that was read after it, until `capped` says how far.
  ln "$prepared/output" "$job/capping.$1" || return
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
  printf '%-39s\n' "size=$position end" 1<>"$prepared/capped.$1"
  ln "$prepared/capped.$1" "$job/capped.$1"
} 2>/dev/null

cut_back() { # <out|err> <file>: to where a stream was ended, if it was
  read_cap "$1" && file_size "$2" && [ "$size" -gt "$cap" ] || return 0
  # dd ends a file where its output would begin (POSIX).
  dd if=/dev/null of="$2" bs=1 seek="$cap" count=0 2>/dev/null
}

hold() { # <out|err> <file>: fails when the job is to be ended
  local seen=seen_$1
  if [ -e "$job/capping.$1" ]; then
    cut_back "$1" "$2"
    return 0
  fi
  file_size "$2" || return 0
  if [ "$size" -le "$max_output" ]; then
    # At this speed it would be there after four more naps.
    [ $(((size - ${!seen:-0}) * 4)) -lt $((max_output - size)) ] || hurry=yes
    printf -v "$seen" %s "$size"
    return 0
  fi
  cap "$1" "$2"
  [ "$on_max_output" = discard ]
}

hold_output() {
  [ -n "$max_output" ] || return 0
  hold out "$job/out.jsonl" && hold err "$job/err.log"
}

# shellcheck disable=SC2317
step() { :; } # nobody listens

end_job() { # <timeout|output>
  identify
  case $who in leader | group) ;; *) return ;; esac
  # As with a cancel: the end counts as the limit's when this was linked before the exit record.
  ln "$prepared/$1" "$job/limit" 2>/dev/null
  [ "$interrupt" != yes ] || send INT leader 5
  send TERM group 5
  send KILL group 2
  sweep
}

main() {
  local elapsed=0 hurry=yes uptime
  job=$1 nonce=$2
  id=${job##*/}
  # Handlers, as the supervisor has them: whoever logs out or stops the job does not stop its limits.
  trap : HUP INT TERM QUIT PIPE
  read_uptime
  read_limits
  prepare
  wait_for_start
  read_started
  [ "$recorded_attempt" = "$nonce" ] || leave
  while look_at_leader; [ "$leader" = alive ] || [ "$leader" = unknown ]; do
    if ! hold_output; then
      end_job output
      break
    fi
    if [ -n "$timeout" ] && [ $elapsed -ge $((timeout * 1000)) ]; then
      end_job timeout
      break
    fi
    nap
  done
  # What the last of its processes wrote. A stream is not ended any more: its size may be on record.
  cut_back out "$job/out.jsonl"
  cut_back err "$job/err.log"
  leave
}

main "$@"
