#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# Why a job whose leader and supervisor are both gone has no exit record: what disk, kernel and logind
# tell of that. What may not be read is unknown; that nothing is found proves nothing.

look_at_causes() { # -> disk, oom, logout
  local decoded
  decode64 "${recorded_cgroup:-}"
  look_at_disk
  look_at_memory "$decoded"
  look_at_logout "$decoded"
}

look_at_disk() { # -> disk: full (less than 64 KiB), free or unknown, where the job directory lies
  local before='' field
  # The names of device and mount point may hold blanks; the free space stands before the per cent.
  # shellcheck disable=SC2046
  set -- $(df -P -k -- "$job" 2>/dev/null | tail -n 1)
  for field; do
    case $field in
      [0-9]*%)
        case $before in
          # Less than nothing is free where root has used what is kept for it.
          -[0-9]*) disk=full ;;
          [0-9]*) if [ "$before" -lt 64 ]; then disk=full; else disk=free; fi ;;
        esac
        return
        ;;
    esac
    before=$field
  done
}

look_at_memory() { # <cgroup lines> -> oom: killed, counted, none or unknown
  local oom_kills
  count_oom_kills "$1"
  case ${recorded_oom_kills:--}$oom_kills in
    *[!0-9]*) ;;
    *) if [ "$oom_kills" -gt "$recorded_oom_kills" ]; then oom=counted; else oom=none; fi ;;
  esac
  ! kernel_log_names_us || oom=killed
}

kernel_log_names_us() { # the kernel says that it killed the leader or the supervisor
  local line when
  # It says so by the pids of the first namespace, which has this number on every Linux.
  [ "$(readlink /proc/self/ns/pid 2>/dev/null)" = 'pid:[4026531836]' ] || return
  is_process_number "$recorded_pid" && is_process_number "$recorded_supervisor" || return
  case $recorded_birth in '' | *[!0-9]*) return 1 ;; esac
  line=$(dmesg 2>/dev/null | grep -E "Killed process ($recorded_pid|$recorded_supervisor)[ ,]" \
    | tail -n 1)
  # Not another process that had the number before: the log counts seconds, a birth is in ticks.
  when=${line#*[} when=${when%%.*} when=${when// /}
  case $when in '' | *[!0-9]*) return 1 ;; esac
  [ "$when" -ge $((recorded_birth / $(getconf CLK_TCK 2>/dev/null || echo 100))) ]
}

look_at_logout() { # <cgroup lines> -> logout: killed, none or unknown
  local line path='' root IFS=$newline
  for line in $1; do
    case $line in
      0::*/session-*.scope* | *:name=systemd:*/session-*.scope*) path=/${line#*:*:/} ;;
    esac
  done
  [ -n "$1" ] && [ -d /sys/fs/cgroup ] || return 0
  logout=none
  path=${path%%.scope*}.scope
  [ "$path" != .scope ] || return 0
  for root in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
    [ ! -d "$root$path" ] || return 0
  done
  # The session has ended; whether logind ends what is left of one, is a setting of its own.
  logout=unknown
  ! logind_kills || logout=killed
}

logind_kills() { # whether logind ends what this user leaves behind
  local user line kills=no only='' except='' IFS=$newline
  user=$(id -un)
  for line in $(loginctl show-session --property=KillUserProcesses --property=KillOnlyUsers \
    --property=KillExcludeUsers 2>/dev/null); do
    case $line in
      KillUserProcesses=*) kills=${line#*=} ;;
      KillOnlyUsers=*) only=${line#*=} ;;
      KillExcludeUsers=*) except=${line#*=} ;;
    esac
  done
  case " $except " in *" $user "*) return 1 ;; esac
  case " ${only:-$user} " in *" $user "*) [ "$kills" = yes ] ;; *) return 1 ;; esac
}
