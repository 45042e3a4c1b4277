# shellcheck shell=bash
# What a suite does with jobs. The host's alias is SPIKES_HOST (default: host).

# launch ID COMMAND...: fails unless this launch started it.
launch() {
  client launch "$@" >"$BATS_TEST_TMPDIR/launched" || true
  grep -q '^started new ' "$BATS_TEST_TMPDIR/launched" \
    || fail "not started: $(cat "$BATS_TEST_TMPDIR/launched")"
}

job_folder() { printf '%s\n' "$(home_of "${SPIKES_HOST:-host}")/.pocket/jobs/$1"; }

# started_field ID KEY
started_field() { sed -n "s/^$2=//p" "$(job_folder "$1")/started"; }

# record ID: the exit record; fails when there is none.
record() {
  local line
  read -r line <"$(job_folder "$1")/exit" || return 1
  case $line in 'v=1 '*' end') printf '%s\n' "$line" ;; *) return 1 ;; esac
}

has_record() { record "$1" >/dev/null 2>&1; }

# record_field ID KEY
record_field() { record "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

# ended_with ID HOW STATUS: waits up to 15 s for the record.
ended_with() {
  spikes_wait 15 has_record "$1" || fail "no exit record: $(cat "$(job_folder "$1")/exit" "$(job_folder "$1")/err.log")"
  expect "how and status" "$(record_field "$1" how) $(record_field "$1" status)" "$2 $3"
}

# size_of ID out.jsonl|err.log
size_of() { stat -c %s "$(job_folder "$1")/$2"; }

# has_bytes ID FILE COUNT: at least so many.
has_bytes() { [ "$(size_of "$1" "$2" 2>/dev/null || echo 0)" -ge "$3" ]; }

# lives PID: it is there and no zombie.
lives() {
  local line
  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  line=${line##*) }
  case $line in Z* | X*) return 1 ;; esac
}

is_gone() { ! lives "$1"; }

is_stopped() {
  local line
  line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  case ${line##*) } in T*) return 0 ;; esac
  return 1
}

# with_environment TEXT: living processes whose environment holds this entry.
with_environment() {
  local path pid
  while IFS= read -r path; do
    pid=${path#/proc/}
    pid=${pid%/environ}
    ! lives "$pid" || printf '%s\n' "$pid"
  done < <(grep -lzxF -- "$1" /proc/[0-9]*/environ 2>/dev/null)
}

# stat_field PID NUMBER, as proc(5) numbers them, from 3 on.
stat_field() { sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f "$(($2 - 2))"; }

# same_bytes NAME GOT WANTED: two files.
same_bytes() {
  cmp -s "$2" "$3" && return 0
  printf '%s differs:\n' "$1" >&2
  diff <(od -c -A d "$2") <(od -c -A d "$3") | head -n 20 >&2
  return 1
}

# follow_all ID FOLDER [OPTION...]: follows into FOLDER until `end`.
follow_all() {
  local id=$1 into=$2
  shift 2
  client follow --into "$into" "$@" "$id" >/dev/null
}

cancel() {
  local id=$1
  shift
  client ask cancel "id=$id" "interrupt=no" "grace=5" "reach=all" "leftovers=list" "$@"
}

inspect() { client ask inspect "id=$1" "out_bytes=${2:--}" "err_bytes=${3:--}"; }

# enter_small_disk tmpfs|btrfs: ~/.pocket becomes a disk of its own; skips where that cannot be.
enter_small_disk() {
  disk=$(home_of "${SPIKES_HOST:-host}")/.pocket
  rm -rf "$disk"
  mkdir "$disk"
  case $1 in
    tmpfs) mount -t tmpfs -o size=4m tmpfs "$disk" ;;
    btrfs)
      command -v mkfs.btrfs >/dev/null || skip 'mkfs.btrfs is not installed'
      rm -f "$SPIKES_DIR/image"
      truncate -s 120M "$SPIKES_DIR/image"
      mkfs.btrfs -q -m single -d single "$SPIKES_DIR/image"
      mount -o loop "$SPIKES_DIR/image" "$disk" || skip 'a btrfs image cannot be mounted here'
      ;;
  esac
  chown --reference="${disk%/*}" "$disk"
}

leave_small_disk() {
  umount "$disk" 2>/dev/null || umount -l "$disk" 2>/dev/null || true
  rm -rf "$disk"
}

# Moves sshd, and so all that it starts from now on, into a memory cgroup of 64 MiB, in the hierarchy
# of version 1 or 2.
enter_small_cgroup() {
  local root=/sys/fs/cgroup limit=memory.max counter=memory.events
  if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
    root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes counter=memory.oom_control
  fi
  mkdir "$root/pocket-spikes.$$" 2>/dev/null || return
  cgroup=$root/pocket-spikes.$$
  [ -e "$cgroup/$limit" ] && grep -q '^oom_kill ' "$cgroup/$counter" || return
  echo 64M >"$cgroup/$limit" && cat "$SPIKES_DIR/sshd.pid" >"$cgroup/cgroup.procs"
}

leave_small_cgroup() {
  local pid
  while read -r pid; do
    echo "$pid" >"${cgroup%/*}/cgroup.procs" || true
  done <"$cgroup/cgroup.procs"
  spikes_wait 5 rmdir "$cgroup" 2>/dev/null
}
