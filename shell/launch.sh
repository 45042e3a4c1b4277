#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes cgroups records staging
# launch: starts a job's command once, however often it is asked to. Arguments: digest, and the
# texts that supervisor and leader are made of: shared_script (the parts above, which all three
# use), supervise_script, lead_script. The rule for one start is in docs/job-directory.md; every
# step may be the last one of this process.

check_digest() { # another request under this id is never touched
  local line=''
  { IFS= read -r line <"$job/request"; } 2>/dev/null
  [ "$line" = "digest=$digest" ] || fail digest "$job holds another request"
}

answer() { # what `started` says, and whether it was this launch that started it
  local by=again
  read_started
  [ "$recorded_attempt" != "$nonce" ] || by=new
  case $start in
    cancelled) say cancelled ;;
    refused) say "refused $refusal ${refusal_words:--}" ;;
    claimed) say "started $by $recorded_pid $recorded_group $recorded_attempt" ;;
    damaged) fail nostart "$job/started cannot be read, so the command may have run already" ;;
  esac
  finish
}

attempt() { # <command>...: a failure to write is the end, in the host's own words
  local words
  words=$("$@" 2>&1) || fail write "$words"
}

write_byte() { printf x >"$staging/byte"; }
write_payload() { head -c "$1" <&7 >"$staging/payload"; }
cut_payload() { # <skip> <count> <file>
  tail -c "+$(($1 + 1))" "$staging/payload" | head -c "$2" >"$staging/$3"
}
write_environment() { # NAME=VALUE, each ended by a NUL
  # The login shell's environment, as it was before our own variables took the place of those that
  # the user exports under the same names. Where there is no /proc, those reach the job changed.
  { cat "/proc/$$/environ" 2>/dev/null || :; cat "$staging/secrets"; } >"$staging/environment"
}
write_empty_files() {
  : >"$staging/out.jsonl" && : >"$staging/err.log" && printf '%255s\n' '' >"$staging/exit" \
    && head -c 1048576 /dev/urandom >"$staging/ballast"
}

receive_payload() { # request, prompt and secrets into the staging folder, checked -> watch_script
  local line='' tag='' word='' request=0 prompt=0 secret=0 watch=0 sum='' total size inode
  say ready
  # What comes before our line are the client's signs of life.
  while [ "$tag $word" != "$nonce payload" ]; do
    IFS= read -r -t 30 line <&7 || fail payload 'no payload within 30 s'
    IFS=' ' read -r tag word request prompt secret watch sum <<<"$line"
  done
  case "$request$prompt$secret$watch$sum" in *[!0-9]*) fail payload "malformed announcement" ;; esac
  total=$((request + prompt + secret + watch))
  make_staging
  sweep_old
  attempt write_payload "$total"
  file_size "$staging/payload"
  # busybox's head does not tell of a full disk, where a file can be made and nothing be written.
  [ "$size" = "$total" ] || attempt write_byte
  [ "$size" = "$total" ] || fail payload "$size of $total bytes arrived"
  line=$(cksum <"$staging/payload")
  [ "${line%% *}" = "$sum" ] || fail payload 'checksum differs'
  attempt cut_payload 0 "$request" request
  attempt cut_payload "$request" "$prompt" prompt
  attempt cut_payload $((request + prompt)) "$secret" secrets
  # Beside the other scripts it would be too long for one command; most jobs need none.
  watch_script=
  [ "$watch" = 0 ] || watch_script=$(tail -c "$watch" "$staging/payload")
  attempt write_environment
  # Only a descriptor is left of the secrets before anything else is started.
  exec 9<"$staging/environment"
  rm -f "$staging/environment" "$staging/secrets" "$staging/payload"
  attempt write_empty_files
}

sweep_old() { # staging folders first: a launch that has slept for a day must find nothing to link
  find "$root/." ! -name . -prune -name '.in.*' -mtime +0 -exec rm -rf {} \; 2>/dev/null
  find "$root/." ! -name . -prune -name '.gone.*' -mtime +0 -exec rm -f {} \; 2>/dev/null
}

wait_for_started() { # <tenths of a second>
  local ticks=0
  while [ ! -e "$job/started" ]; do
    [ "$ticks" -lt "$1" ] || return 1
    pause
    ticks=$((ticks + 1))
  done
}

start_supervisor() {
  local detach=''
  # A session of its own: nohup is not enough, Claude Code takes SIGHUP back and dies of it.
  type -P setsid >/dev/null && detach=setsid
  # Job control puts it into a group of its own where there is no setsid.
  set -m
  # shellcheck disable=SC2086,SC2016
  POCKET_SHARED=$shared_script POCKET_SUPERVISE=$supervise_script POCKET_LEAD=$lead_script \
    POCKET_WATCH=$watch_script \
    POCKET_USER_UMASK=$user_umask POCKET_USER_PATH=$user_path POCKET_USER_LC_ALL=$user_lc_all \
    $detach bash --norc -p -c 'eval "$POCKET_SHARED$POCKET_SUPERVISE"' pocket-supervise \
    "$job" "$nonce" "$staging" \
    </dev/null >/dev/null 2>&1 7<&- 8>&- &
  set +m
}

main() {
  local made=no
  # A handler, not an ignored signal: the job would inherit that.
  trap : PIPE
  begin launch
  [ ! -e "$tombstone" ] || { say removed; finish; }
  if [ -e "$job/started" ]; then
    # A cancel or a removal that came first has left no request.
    [ ! -e "$job/request" ] || check_digest
    answer
  fi
  receive_payload
  mkdir "$job" 2>/dev/null && made=yes
  if [ -e "$tombstone" ]; then
    [ "$made" = no ] || rmdir "$job"
    say removed
    finish
  fi
  place request
  check_digest
  place prompt
  place exit
  place out.jsonl
  place err.log
  place ballast
  [ "$made" = yes ] || wait_for_started 20
  if [ -e "$job/started" ]; then
    answer
  fi
  start_supervisor
  wait_for_started 100 || fail nostart 'the command was not started within 10 s'
  answer
}

main
