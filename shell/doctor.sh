#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# uses: prelude processes asking storage
# doctor: what a job would find here, with nothing changed. It tells facts and judges none: a fact
# that could not be had is left out, or has an empty value. Arguments: agents, the programs to look
# for, joined by `+`, each as program:VARIABLE:folder:file:NAME..., where VARIABLE may name another
# folder than the one in the home that holds its credentials' file, and each NAME is a variable that
# may hold credentials.

fact() { # <key> <value>...
  local line=$1 value
  shift
  for value; do
    value=$(encode64 "$value")
    line="$line ${value:--}"
  done
  say fact "$line"
}

tell_system() {
  local name='' line boot_id init_birth host_name machine_id
  while IFS= read -r line; do
    case $line in PRETTY_NAME=*) name=${line#*=} name=${name#[\'\"]} name=${name%[\'\"]} ;; esac
  done 2>/dev/null </etc/os-release
  fact system "$(uname -srm)" "$name"
  fact user "$(id -un)" "$HOME" "$SHELL"
  fact bash "$BASH_VERSION" "$BASH"
  host_identity
  fact identity "${boot_id#-}" "${init_birth#-}" "${machine_id#-}"
}

tell_utility() { # <name>
  local path flavour=other
  path=$(type -P "$1") || { fact utility "$1" '' ''; return; }
  # An option that they do not know makes the others say who they are, or that they do not know it.
  case $("$path" --version 2>&1 </dev/null | head -n 3) in
    *BusyBox*) flavour=busybox ;;
    *toybox*) flavour=toybox ;;
    *uutils*) flavour=uutils ;;
    *GNU* | *procps* | *util-linux*) flavour=GNU ;;
  esac
  fact utility "$1" "$path" "$flavour"
}

tell_logind() { # what is ended when the user's last connection is, and whose
  local key words=()
  [ -d /run/systemd/system ] || { fact logind none; return; }
  for key in KillUserProcesses KillOnlyUsers KillExcludeUsers; do
    ask 5 busctl get-property org.freedesktop.login1 /org/freedesktop/login1 \
      org.freedesktop.login1.Manager "$key" || answer=''
    words[${#words[@]}]=$answer
  done
  fact logind systemd "${words[@]}"
  [ ! -d /var/lib/systemd ] || [ ! -e "/var/lib/systemd/linger/$(id -un)" ] || fact linger yes
}

tell_cgroup_limit() { # <key> <folder> <top> <limit's file> <use's file>: the limits on the way up
  local folder=${2%/} limit used
  while :; do
    limit='' used=''
    { read -r limit <"$folder/$4" && read -r used <"$folder/$5"; } 2>/dev/null
    # Version 1 says "no limit" with a number near the greatest there is.
    case $limit in '' | max | ??????????????????*) ;; *) fact "$1" "$limit" "$used" ;; esac
    case $folder in "$3"/*) folder=${folder%/*} ;; *) break ;; esac
  done
}

tell_limits() {
  local line key value rest total='' available='' top=/sys/fs/cgroup
  while read -r key value rest; do
    case $key in MemTotal:) total=$value ;; MemAvailable:) available=$value ;; esac
  done 2>/dev/null </proc/meminfo
  [ -z "$total" ] || fact memory "$total" "$available"
  while IFS= read -r line; do
    rest=${line#*:}
    case $rest in
      :*)
        tell_cgroup_limit memory-limit "$top${rest#:}" "$top" memory.max memory.current
        tell_cgroup_limit task-limit "$top${rest#:}" "$top" pids.max pids.current
        ;;
      memory:*)
        tell_cgroup_limit memory-limit "$top/memory${rest#memory:}" "$top/memory" \
          memory.limit_in_bytes memory.usage_in_bytes
        ;;
      pids:*)
        tell_cgroup_limit task-limit "$top/pids${rest#pids:}" "$top/pids" pids.max pids.current
        ;;
    esac
  done 2>/dev/null </proc/self/cgroup
  fact ulimit file-size "$(ulimit -f)"
  fact ulimit processor-seconds "$(ulimit -t)"
  fact ulimit address-space "$(ulimit -v)"
  fact ulimit open-files "$(ulimit -n)"
  fact ulimit processes "$(ulimit -u 2>/dev/null)"
}

tell_reaping() { # an orphan's end: a PID 1 that does not wait for it leaves a zombie
  local state parent group session birth orphan pid pids reaped='' ticks=0 zombies=0
  orphan=$(sh -c 'sleep 0 </dev/null >/dev/null 2>&1 & echo $!')
  while [ "$ticks" -lt 10 ] && [ "$reaped" != yes ]; do
    if ! process "$orphan"; then
      reaped=yes
    elif is_dead "$state"; then
      reaped=no
    fi
    [ "$reaped" = yes ] || pause
    ticks=$((ticks + 1))
  done
  fact reaped "$reaped"
  [ -d /proc/self ] || return 0
  each_process
  for pid in $pids; do
    [ -O "/proc/$pid" ] && process "$pid" && is_dead "$state" && zombies=$((zombies + 1))
  done
  fact zombies "$zombies"
}

tell_paths() { # -> interactive_path
  interactive_path=''
  fact path login "$user_path"
  say step the PATH of an interactive bash
  path_in_shell bash && interactive_path=$answer
  fact path bash "$answer"
  [ "${SHELL##*/}" != bash ] || return 0
  say step the PATH of an interactive "${SHELL##*/}"
  path_in_shell "$SHELL" && interactive_path=$interactive_path:$answer
  fact path shell "$answer"
}

tell_agent() { # <program> <VARIABLE> <folder> <file> <NAME>...
  local name=$1 folder=${!2-} file=$4 where=login searched=$user_path path
  [ -n "$folder" ] || folder=$HOME/$3
  if ! path=$(PATH=$searched type -P -- "$name"); then
    where=interactive searched=$interactive_path
    path=$(PATH=$searched type -P -- "$name") || return 0
  fi
  fact agent "$name" "$path" "$where"
  say step the version of "$name"
  # A script's interpreter may stand beside it.
  PATH=$searched ask 10 "$path" --version
  first_line "$answer"
  fact version "$name" "$line"
  [ ! -s "$folder/$file" ] || fact credentials "$name" "$folder/$file"
  shift 4
  for file; do [ -z "${!file-}" ] || fact credentials "$name" "\$$file"; done
}

main() {
  local name line words
  begin doctor
  fact clock "$(date +%s)"
  tell_system
  for name in base64 cat cksum date dd head ln ls mkdir rm sleep tail tr setsid stdbuf sha256sum; do
    tell_utility "$name"
  done
  tell_storage
  tell_logind
  tell_limits
  tell_reaping
  tell_paths
  for name in ${agents//+/ }; do
    IFS=: read -r -a words <<<"$name"
    tell_agent "${words[@]}"
  done
  finish
}

main
