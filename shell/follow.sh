#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes records evidence
# follow: sends both streams from the client's committed offsets on, as frames, until the exit
# record's sizes are reached. Arguments, for out and err: out_generation, out_offset, out_inode,
# out_fingerprint; and late (yes: what came after the record's sizes, up to the files' present ones).
# docs/remote-protocol.md has the frames.
#
# Two processes: the pump alone writes to the channel; the watchdog alone reads from it. One process
# that did both would never end while a frozen client blocks its write.

frame_limit=4194304 # bytes
beat_period=2000    # milliseconds
silence_limit=60    # seconds

set_up_streams() { # index 0 is out, 1 is err; descriptors 3 and 4 wait at the position
  name=(out err)
  file=("$job/out.jsonl" "$job/err.log")
  generation=("$out_generation" "$err_generation")
  position=("$out_offset" "$err_offset")
  node=("$out_inode" "$err_inode")
  fingerprint=("$out_fingerprint" "$err_fingerprint")
  final=('' '')
  length=(0 0)
  limit=('' '')
}

set_up_pulse() { # descriptor 6 never has data and never ends: a read with a time limit is a sleep
  # Opened for writing too, a pipe has no end of file; where that is refused, a process holds it.
  { exec 6<> <(:); } 2>/dev/null || exec 6< <(exec sleep 1000000)
  # bash 3.2 knows whole seconds only.
  if [ "${BASH_VERSINFO[0]}" -ge 4 ]; then
    quick=0.05 quick_ms=50 slow=0.2 slow_ms=200
  else
    quick=1 quick_ms=1000 slow=1 slow_ms=1000
  fi
}

sum_of() { # <file> <start> <count> -> sum: cksum of these bytes
  sum=$({ dd bs=1 skip="$2" count=0 && head -c "$3" | cksum; } <"$1" 2>/dev/null)
  sum=${sum%% *}
}

wait_at_position() { # <index>: move the stream's descriptor to where the next byte will be
  if [ "$1" = 0 ]; then
    exec 3<"${file[0]}" && dd bs=1 skip="${position[0]}" count=0 <&3
  else
    exec 4<"${file[1]}" && dd bs=1 skip="${position[1]}" count=0 <&4
  fi 2>/dev/null
}

has_grown() { # <index>: without a fork
  local _byte
  IFS= read -r -d '' -n 1 _byte <&$((3 + $1))
} 2>/dev/null

next_generation() { # <index> <reason>: this one ends here, the next is the file as it now is
  say "gap ${name[$1]} ${generation[$1]} $2 ${position[$1]} ${size:-0}"
  generation[$1]=$((generation[$1] + 1))
  position[$1]=0
  fingerprint[$1]=-
  node[$1]=$inode
  greet "$1"
}

greet() { # <index>
  say "stream ${name[$1]} ${generation[$1]} ${position[$1]} ${node[$1]:--}"
  wait_at_position "$1"
}

note_cap() { # <index>: fails while the watcher is about to say where the stream ends
  local cap
  [ -e "$job/capping.${name[$1]}" ] || return 0
  # Where there is an exit record, it has the last word.
  if read_cap "${name[$1]}"; then limit[$1]=$cap; else [ -n "${final[$1]}" ]; fi
}

wait_for_cap() { # <index>: it takes the watcher a moment
  local ticks=0
  until [ -n "${limit[$1]}" ] || note_cap "$1"; do
    [ $ticks -lt 20 ] || exit 1
    pause
    ticks=$((ticks + 1))
  done
}

check_file() { # <index>: is it still the file that was read, and not shorter?
  if ! file_size "${file[$1]}"; then
    [ "${position[$1]}" = 0 ] || next_generation "$1" missing
    length[$1]=0
    return
  fi
  if [ "${node[$1]:--}" != - ] && [ "$inode" != "${node[$1]}" ]; then
    next_generation "$1" replaced
  elif [ "$size" -lt "${position[$1]}" ]; then
    next_generation "$1" shrunk
  fi
  node[$1]=$inode
  note_length "$1"
}

note_length() { # <index>: what lies behind a limit on output is not the job's
  [ -n "${limit[$1]}" ] || note_cap "$1"
  length[$1]=$size
  if [ -n "${limit[$1]}" ] && [ "$size" -gt "${limit[$1]}" ]; then length[$1]=${limit[$1]}; fi
}

check_bytes() { # <index>: are the bytes before the position those that the client has?
  local start=0 sum
  if [ "${fingerprint[$1]}" = - ] || [ "${position[$1]}" = 0 ]; then return; fi
  [ "${position[$1]}" -le 512 ] || start=$((position[$1] - 512))
  sum_of "${file[$1]}" "$start" $((position[$1] - start))
  [ "$sum" = "${fingerprint[$1]}" ] || next_generation "$1" rewritten
}

send_frame() { # <index>: what there is from the position on, up to the limit
  local count start first=- sum
  [ -n "${limit[$1]}" ] || note_cap "$1" || return 1
  count=${length[$1]}
  if [ -n "${limit[$1]}" ] && [ "$count" -gt "${limit[$1]}" ]; then count=${limit[$1]}; fi
  if [ -n "${final[$1]}" ] && [ "$count" -gt "${final[$1]}" ]; then count=${final[$1]}; fi
  count=$((count - position[$1]))
  [ "$count" -gt 0 ] || return 1
  [ "$count" -le "$frame_limit" ] || count=$frame_limit
  say "data ${name[$1]} ${generation[$1]} ${position[$1]} $count"
  { dd bs=1 skip="${position[$1]}" count=0 2>/dev/null; head -c "$count" >&8; } <"${file[$1]}"
  # What was sent counts only if the file is still the one it was. Otherwise, and when the count
  # may not be right, the client must drop the frame: end without `sent`.
  file_size "${file[$1]}" || exit 1
  [ "$inode" = "${node[$1]}" ] && [ "$size" -ge $((position[$1] + count)) ] || exit 1
  # What was read after the link `capping` may be cut off again. Without the link, it stays.
  wait_for_cap "$1"
  note_length "$1"
  [ "${length[$1]}" -ge $((position[$1] + count)) ] || exit 1
  if [ "$count" -gt 256 ]; then
    start=0
    [ "${position[$1]}" -le 256 ] || start=$((position[$1] - 256))
    sum_of "${file[$1]}" "$start" $((position[$1] + 256 - start))
    first=$sum
  fi
  position[$1]=$((position[$1] + count))
  start=0
  [ "${position[$1]}" -le 512 ] || start=$((position[$1] - 512))
  sum_of "${file[$1]}" "$start" $((position[$1] - start))
  say "sent $first $sum"
  fingerprint[$1]=$sum
  wait_at_position "$1"
}

serve() { # <index>: 0 when a frame was sent
  [ "${limit[$1]:--}" != "${position[$1]}" ] || return 1
  if [ "${length[$1]}" -le "${position[$1]}" ]; then
    has_grown "$1" || return 1
    check_file "$1"
  fi
  send_frame "$1"
}

note_exit() { # the record's sizes are where the streams end; what comes later is late output
  local sizes
  read_exit || return 1
  sizes=${record##* out=}
  final[0]=${sizes%% *}
  sizes=${record##* err=}
  final[1]=${sizes%% *}
}

drain() { # <index>: to the size in the exit record
  check_file "$1"
  check_bytes "$1"
  while send_frame "$1"; do :; done
  [ "${position[$1]}" -ge "${final[$1]}" ] \
    || say "short ${name[$1]} ${position[$1]} ${final[$1]}"
}

conclude() {
  local late_out late_err
  drain 0
  drain 1
  late_out=$((length[0] > final[0] ? length[0] - final[0] : 0))
  late_err=$((length[1] > final[1] ? length[1] - final[1] : 0))
  [ $((late_out + late_err)) = 0 ] || say "late $late_out $late_err"
  # The record is the last word: who reads it has read all.
  look
  tell_evidence
  say end
  exit 0
}

conclude_late() { # the offsets are at the record's sizes, or behind
  local i
  for i in 0 1; do
    check_file $i
    final[i]=${length[i]}
    drain $i
  done
  say end
  exit 0
}

beat() {
  check_file 0
  check_file 1
  look_at_processes
  say "beat ${length[0]} ${length[1]} $leader $supervisor"
}

pump() {
  local i quiet=0 until_beat=$beat_period
  exec 7<&-
  set_up_streams
  set_up_pulse
  for i in 0 1; do
    check_file $i
    check_bytes $i
    greet $i
  done
  [ "$late" != yes ] || conclude_late
  while :; do
    note_exit && conclude
    if serve 0; then quiet=0; fi
    if serve 1; then quiet=0; fi
    if [ $quiet -lt 5000 ]; then
      IFS= read -r -t $quick _ <&6
      [ $? -gt 128 ] || [ $quick_ms = 1000 ] || exit 1
      quiet=$((quiet + quick_ms)) until_beat=$((until_beat - quick_ms))
    else
      IFS= read -r -t $slow _ <&6
      [ $? -gt 128 ] || [ $slow_ms = 1000 ] || exit 1
      until_beat=$((until_beat - slow_ms))
    fi
    if [ $until_beat -le 0 ]; then
      beat
      until_beat=$beat_period
    fi
  done
}

watch_client() { # until it is silent for too long, closes its end, or the pump is done
  local silent=0 instant=0 before
  while kill -0 "$pump" 2>/dev/null && [ $silent -lt $silence_limit ] && [ $instant -lt 3 ]; do
    before=$SECONDS
    if IFS= read -r -t 1 _ <&7; then
      silent=0 instant=0
    elif [ "$SECONDS" = "$before" ]; then
      # bash 3.2 gives one status for the end of file and for the time limit; only the end is quick.
      instant=$((instant + 1))
    else
      silent=$((silent + 1)) instant=0
    fi
  done
}

main() {
  begin follow
  look
  # In a follow the exit record comes last: it says that all frames before it are complete.
  record=''
  tell_evidence
  if [ "$late" = yes ] && ! read_exit; then finish; fi
  if [ "$directory" != present ] || [ "$start" != claimed ] || [ "$machine" = other ]; then
    finish
  fi
  set -m
  pump &
  pump=$!
  watch_client
  # By job number: a pump that has ended may have left its pid to somebody else.
  kill -TERM %1 2>/dev/null || exit 0
  sleep 1
  kill -KILL %1 2>/dev/null
  exit 0
}

main
