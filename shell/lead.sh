#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# lead: the job's first process. It claims the start by linking `started`, and becomes the command.
# Arguments: job directory, nonce of the launch, staging folder, the supervisor's pid. The parts that
# launch uses are read before this text.

read_request() { # -> cwd, input, buffering, command
  local line key value
  cwd='' input=null buffering=default command=()
  while IFS= read -r line; do
    key=${line%%=*} value=${line#*=}
    case $key in
      stdin) input=$value ;;
      buffering) buffering=$value ;;
      cwd) decode64 "$value" && cwd=$decoded ;;
      arg) decode64 "$value" && command[${#command[@]}]=$decoded ;;
    esac
  done <"$job/request"
  [ ${#command[@]} -gt 0 ]
}

claim() { # <lines>: whoever loses this link runs nothing
  printf '%s\nend=1\n' "$1" >"$staging/started" && ln "$staging/started" "$job/started" \
    || exit 125
}

refuse() { # <cwd|program|permission> <words>
  claim "refused=$1${newline}words=$(encode64 "$2")"
  exit 125
}

enter_cwd() {
  local words
  # shellcheck disable=SC2088
  case $cwd in
    /*) ;;
    '' | '~') cwd=$HOME ;;
    '~/'*) cwd=$HOME/${cwd#'~/'} ;;
    *) cwd=$HOME/$cwd ;;
  esac
  cd -- "$cwd" 2>/dev/null && return
  words=$(cd -- "$cwd" 2>&1 || true)
  refuse cwd "${words##*cd: }"
}

find_program() { # from inside the cwd, on the user's PATH
  local program=${command[0]}
  case $program in
    */*)
      [ -f "$program" ] || refuse program "$program: no such file"
      [ -x "$program" ] || refuse permission "$program: not executable"
      ;;
    *)
      type -P -- "$program" >/dev/null || refuse program "$program: not found on PATH $PATH"
      ;;
  esac
}

restore_environment() { # the last step: the user's variables may bear the names of ours
  local pair
  umask "$POCKET_USER_UMASK"
  PATH=$POCKET_USER_PATH
  case $POCKET_USER_LC_ALL in
    =*) LC_ALL=${POCKET_USER_LC_ALL#=} ;;
    *) unset LC_ALL ;;
  esac
  unset POCKET_SHARED POCKET_SUPERVISE POCKET_LEAD POCKET_WATCH
  unset POCKET_USER_UMASK POCKET_USER_PATH POCKET_USER_LC_ALL
  while IFS= read -r -d '' pair; do
    case ${pair%%=*} in '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
    export "${pair?}"
  done <&9
  export POCKET_JOB=${pocket_job##*/}
  export PYTHONUNBUFFERED=${PYTHONUNBUFFERED-1}
}

main() {
  local group parent birth session state own_birth own_session own_group
  job=$1 nonce=$2 staging=$3 supervisor=$4
  id=${job##*/}
  tombstone=${job%/*}/.gone.$id
  process $$ || exit 125
  [ "$group" = $$ ] && [ "$parent" = "$supervisor" ] || exit 125
  own_birth=$birth own_session=$session own_group=$group
  process "$supervisor" || exit 125
  read_request || exit 125
  host_identity
  own_cgroup
  count_oom_kills "$cgroup"
  restored_path=$PATH PATH=$POCKET_USER_PATH
  enter_cwd
  find_program
  PATH=$restored_path
  # shellcheck disable=SC2153
  claim "pid=$$
pgid=$own_group
sid=$own_session
birth=$own_birth
boot=$boot_id
init=$init_birth
host=$host_name
machine=$machine_id
supervisor=$supervisor
supervisor_birth=$birth
attempt=$nonce
cgroup=$(encode64 "$cgroup")
oom_kills=$oom_kills"
  # A remove writes its tombstone before it deletes: whoever links after that deletion sees it.
  [ ! -e "$tombstone" ] || exit 125
  [ "$input" = prompt ] && input=$job/prompt || input=/dev/null
  if [ "$buffering" = line ] && type -P stdbuf >/dev/null; then
    command=(stdbuf -oL "${command[@]}")
  fi
  exec 3<"$input" 4>>"$job/out.jsonl" 5>>"$job/err.log"
  pocket_job=$job
  set -- "${command[@]}"
  # An array cannot be exported, and the user may export a variable of this name.
  unset command
  restore_environment
  shopt -s execfail
  # shellcheck disable=SC2093
  exec -- "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&- 9<&-
  could_not_execute $?
}

could_not_execute() { # <126|127>: told apart from a program's own 127
  local words
  words=$(tail -c 300 "$pocket_job/err.log")
  set -C
  printf '%s %s\n' "$1" "$(encode64 "${words#*: line *: }")" >"$pocket_job/noexec"
  exit "$1"
}

main "$@"
