#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# supervise: starts the leader, waits for it, and records how it ended. Arguments: job directory,
# nonce of the launch, staging folder. The parts that launch uses are read before this text. It is outside the leader's group and carries no cookie.

close_descriptors() { # a descriptor of the channel would keep the client waiting until the job ends
  local path descriptor
  set +f
  for path in /dev/fd/*; do
    descriptor=${path##*/}
    case $descriptor in
      # 9 holds the secrets, 255 is bash's own.
      0 | 1 | 2 | 9 | 255 | *[!0-9]*) ;;
      *) eval "exec $descriptor>&-" ;;
    esac
  done
  set -f
}

wait_for_leader() { # -> status as the shell gives it, ended as `jobs` words it
  local state parent group session birth again
  while :; do
    wait "$leader"
    status=$?
    # A signal to us ends `wait` too. Nothing is run in the foreground here: bash would tell of the
    # leader's end behind it, and forget it.
    process "$leader" || break
    [ "$parent" = $$ ] || break
    is_dead "$state" && break
  done
  # When the trap cut `wait` short, its status is the trap's; bash still remembers the leader's.
  wait "$leader" 2>/dev/null
  again=$?
  [ "$again" = 127 ] || status=$again
}

note_jobs() { # bash forgets a job once `wait` has told of it, so it is asked when the child dies
  local now
  now=$(jobs -l)
  case $now in '' | *Running* | *Stopped*) ;; *) ended=$now ;; esac
}

how_it_ended() { # -> how: `wait` says 137 for `exit 137` and for SIGKILL, `jobs` tells them apart
  how=unknown
  if [ "$status" -le 128 ]; then
    how=code
  else
    case $ended in
      *"Exit $status "* | *"Exit $status") how=code ;;
      *Exit* | *Done* | '') ;;
      *) how=signal ;;
    esac
  fi
  [ "$how" != signal ] || status=$((status - 128))
}

wait_for_group() { # at most a second: what is written by then belongs to the job
  local ticks=0 members kin start=$SECONDS
  # Ticks are what is counted; on a machine so busy that ten of them take long, the clock bounds them.
  while [ "$ticks" -lt 10 ] && [ $((SECONDS - start)) -lt 2 ]; do
    # That nothing can be signalled proves the group empty; that something can proves nothing,
    # since a zombie can.
    kill -0 -- "-$leader" 2>/dev/null || return
    group_members "$leader" -
    [ -n "$members" ] || return
    pause
    ticks=$((ticks + 1))
  done
}

start_watcher() { # with a limit only; before the leader, so that it looks when the command begins
  [ -n "$POCKET_WATCH" ] || return 0
  bash --norc -p -c 'eval "$POCKET_SHARED$POCKET_WATCH"' pocket-watch "$job" "$nonce" 9<&- &
  watcher=$!
  # Among the jobs, it would stand between us and the leader's end.
  disown
}

wait_for_cap() { # <out|err>: the watcher is about to say where the stream ends
  local state parent group session birth ticks=0
  while [ ! -e "$job/capped.$1" ] && process "$watcher" && [ "$parent" = $$ ] && ! is_dead "$state"; do
    # From a watcher that was stopped the word may never come, and must not come later either.
    [ $ticks -lt 100 ] || kill -KILL "$watcher"
    pause
    ticks=$((ticks + 1))
  done
}

size_of() { # <out|err> <file> -> size, 0 when it is gone; notes in capped what ends at its limit
  file_size "$2" || size=0
  # Looked at after the size: without it, whatever the watcher does now lies behind that size.
  [ -e "$job/capping.$1" ] || return 0
  wait_for_cap "$1"
  file_size "$2" || size=0
  read_cap "$1" || return 0
  capped=$capped${capped:+,}$1
  # The command may have cut its own file since.
  [ "$size" -le "$cap" ] || size=$cap
}

disk_is_full() { # asked before the ballast is given up, which is thrown away next
  local words
  # By bash itself: busybox's utilities do not tell of a full disk, and `df` not of a quota.
  words=$( { printf '%65536s' '' >>"$job/ballast"; } 2>&1)
  case $words in *'No space left'* | *[Qq]'uota exceeded'*) return 0 ;; esac
  return 1
}

was_out_of_memory() { # the kernel has killed in our control group since the leader was started
  [ "$how $status" = 'signal 9' ] && [ "$oom_kills_before" != - ] || return 1
  count_oom_kills "$cgroup"
  [ "$oom_kills" != - ] && [ "$oom_kills" -gt "$oom_kills_before" ]
}

write_record() { # in place and in one write, until the disk lets us
  local out err cancelled=no limit='' capped='' notes=''
  size_of out "$job/out.jsonl"
  out=$size
  size_of err "$job/err.log"
  err=$size
  [ ! -e "$job/cancel" ] || cancelled=yes
  { read -r limit <"$job/limit"; } 2>/dev/null
  case $limit in 'limit='*' end') notes=" ${limit% end}" ;; esac
  notes=$notes${capped:+ capped=$capped}
  ! disk_is_full || notes="$notes disk=full"
  ! was_out_of_memory || notes="$notes oom=counted"
  # A full copy-on-write disk refuses even an overwrite; this is what the ballast was for.
  rm -f "$job/ballast"
  while [ -e "$job/exit" ]; do
    record="v=1 how=$how status=$status out=$out err=$err started=$began ended=$(date +%s)"
    record="$record cancel=$cancelled$notes end"
    { printf '%-255s\n' "$record" 1<>"$job/exit"; } 2>/dev/null && break
    sleep 1
  done
}

main() {
  job=$1 nonce=$2 staging=$3
  id=${job##*/}
  began=$(date +%s)
  # Handlers, so that the leader does not inherit ignored signals.
  trap : HUP INT TERM QUIT PIPE
  close_descriptors
  own_cgroup
  count_oom_kills "$cgroup"
  oom_kills_before=$oom_kills
  # Under job control the leader leads a group of its own and INT is not ignored in it.
  set -m
  start_watcher
  ended=''
  trap note_jobs CHLD
  bash --norc -p -c 'eval "$POCKET_SHARED$POCKET_LEAD"' pocket-lead "$job" "$nonce" "$staging" $$ &
  leader=$!
  # Without job control `wait` is not ended by a leader that is only stopped, and bash does not tell
  # of its end, and forget it, behind some other command.
  set +m
  exec 9<&-
  wait_for_leader
  trap - CHLD
  # Before `started` is read: a leader that was killed may have left the `ln` of its claim behind.
  wait_for_group
  read_started
  # Without `started` nothing was run and a later launch may try; with another's, it is not ours.
  [ "$recorded_attempt" = "$nonce" ] || exit 0
  how_it_ended
  write_record
}

main "$@"
