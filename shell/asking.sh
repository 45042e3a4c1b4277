#!/usr/bin/env bash
# shellcheck shell=bash disable=SC2034,SC2154
# Asking a program of the host, which may say anything, or never end.

ask() { # <seconds> <command>... -> answer: what it wrote to stdout; fails when it did not end in time
  local ticks=$1 line='' reads=0 asked=''
  shift
  answer=''
  # A group of its own, so that all of it can be ended. The last line is ours: bash 3.2 does not tell
  # a `read` that took too long from one at the end of the file.
  exec 5< <(
    set -m
    sh -c 'printf "%s\n" $$; exec "$@"' sh "$@" </dev/null 2>/dev/null 5<&- 7<&- 8>&- &
    wait
    printf '\n%s asked\n' "$nonce"
  )
  IFS= read -r -t 5 asked <&5
  # What says more than this is nothing that was asked for.
  while [ "$reads" -lt 500 ]; do
    if IFS= read -r -n 32768 -t 1 line <&5; then
      reads=$((reads + 1))
      if [ "$line" = "$nonce asked" ]; then
        exec 5<&-
        while [ "${answer%"$newline"}" != "$answer" ]; do answer=${answer%"$newline"}; done
        return 0
      fi
      answer=$answer$line$newline
    else
      ticks=$((ticks - 1))
      [ "$ticks" -gt 0 ] || break
    fi
  done
  case $asked in '' | 0 | 1 | *[!0-9]*) ;; *) kill -KILL -- "-$asked" 2>/dev/null ;; esac
  exec 5<&-
  answer=''
  return 1
}

first_line() { # <text> -> line: the first that is not empty
  local rest=$1$newline
  line=''
  while [ -n "$rest" ] && [ -z "$line" ]; do
    line=${rest%%"$newline"*} rest=${rest#*"$newline"}
  done
}

path_in_shell() { # <shell> -> answer: its PATH when it is interactive; fails when it does not say
  local mark=$nonce: command
  # `sh` within quotes, since every shell knows how to start one, and few agree on more.
  command="sh -c 'printf \"\\n$mark%s:$nonce\\n\" \"\$PATH\"'"
  case ${1##*/} in
    # With -c they set no prompt, by which their startup files tell whether they are interactive.
    csh | tcsh)
      # shellcheck disable=SC2016
      set -- sh -c 'printf "%s\n" "$1" | exec "$0" -i' "$1" "$command"
      ;;
    *) set -- "$1" -l -i -c "$command" ;;
  esac
  PATH=$user_path ask 10 "$@" || return 1
  case $answer in *"$mark"*":$nonce"*) ;; *) return 1 ;; esac
  answer=${answer#*"$mark"}
  answer=${answer%%":$nonce"*}
}
