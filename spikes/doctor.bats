#!/usr/bin/env bats
# shellcheck shell=bats
# What a host tells about itself: shells of all kinds are asked for their PATH, programs for their
# version, and whatever they do, the answer is complete and nothing of it stays.

load harness.bash
load jobs.bash

# shellcheck disable=SC2086
setup_file() { spikes_start $SPIKES_SHELLS; }
teardown_file() { spikes_stop; }

AGENT=agent:AGENT_HOME:.agent:login.json:AGENT_KEY

# examine [AGENTS]: the reply, with values decoded and joined by `|`; an absent one is `-`.
examine() {
  client ask --host "${SPIKES_HOST:-host}" doctor "agents=${1-}" >"$BATS_TEST_TMPDIR/reply"
  local word key value line
  while read -r word key value; do
    [ "$word" = fact ] || continue
    line=$key
    for word in $value; do
      [ "$word" = - ] || word=$(base64 -d <<<"$word" | tr '\n' ' ')
      line="$line|$word"
    done
    printf '%s\n' "$line"
  done <"$BATS_TEST_TMPDIR/reply" >"$BATS_TEST_TMPDIR/facts"
  tail -n 1 "$BATS_TEST_TMPDIR/reply" | grep -qx end || fail "no end: $(cat "$BATS_TEST_TMPDIR/reply")"
}

# told REGEX: a fact's line; shows all facts when there is none.
told() { grep -Eq "^$1" "$BATS_TEST_TMPDIR/facts" || fail "no fact $1 in: $(cat "$BATS_TEST_TMPDIR/facts")"; }

not_told() { ! grep -Eq "^$1" "$BATS_TEST_TMPDIR/facts" || fail "$(grep -E "^$1" "$BATS_TEST_TMPDIR/facts")"; }

# tells_path SHELL FILE LINE: a folder that only an interactive shell has is told.
tells_path() {
  export SPIKES_HOST=$1
  need_shell "$1"
  printf 'echo hello from %s\n%s\n' "$1" "$3" | put "$1" "$2"
  examine
  rm -f "$(home_of "$1")/$2"
  told 'path\|login\|/'
  not_told 'path\|login\|.*only/here'
  told "path\|$4\|.*/only/here"
}

@test "22 bash: the PATH of the part of .bashrc behind the interactive guard" {
  tells_path bash .bash_profile '. ~/.bashrc; case $- in *i*) PATH=$PATH:/only/here ;; esac' bash
}
@test "22 zsh: the PATH of .zshrc" { tells_path zsh .zshrc 'path+=(/only/here)' shell; }
@test "22 fish: the PATH of an interactive config.fish" {
  tells_path fish .config/fish/config.fish 'status is-interactive; and set -gx PATH $PATH /only/here' shell
}
@test "22 tcsh: the PATH of .tcshrc behind the prompt guard" {
  tells_path tcsh .tcshrc 'if ($?prompt) setenv PATH ${PATH}:/only/here' shell
}
@test "22 ksh: the PATH of an interactive ksh" {
  tells_path ksh .profile 'case $- in *i*) PATH=$PATH:/only/here ;; esac' shell
}
@test "22 dash: the PATH of an interactive dash" {
  tells_path dash .profile 'case $- in *i*) PATH=$PATH:/only/here ;; esac' shell
}

@test "22 an interactive shell that never comes to our command is ended with what it started" {
  put host .bash_profile <<<'case $- in *i*) sleep 987 & exec sleep 987 ;; esac'
  examine
  rm -f "$(home_of host)/.bash_profile"
  told 'path\|bash\|-$'
  told 'reaped\|'
  spikes_wait 10 no_process_has 'sleep 987' || fail "it lives on"
}

@test "22 an interactive shell that prints for ever is ended" {
  put host .bash_profile <<<'case $- in *i*) exec yes noise ;; esac'
  examine
  rm -f "$(home_of host)/.bash_profile"
  told 'path\|bash\|-$'
  spikes_wait 10 no_process_has 'yes noise' || fail "it lives on"
}

# forget NAME...: files and folders of the home.
forget() {
  local name home
  home=$(home_of host)
  for name; do rm -rf "${home:?}/$name"; done
}

# no_process_has WORDS: in its arguments.
no_process_has() {
  local path words
  for path in /proc/[0-9]*/cmdline; do
    words=$({ tr '\0' ' ' <"$path"; } 2>/dev/null) || continue
    [ "$words" != "$1 " ] || return 1
  done
}

@test "22 a program is asked for its version, and only whether there are credentials" {
  put host .bash_profile <<<'PATH=$HOME/bin:$PATH; export AGENT_KEY=very-secret'
  printf '#!/bin/sh\n[ "$*" = --version ] && echo "agent 1.2.3"\n' | put host bin/agent 755
  put host .agent/login.json <<<'also-secret'
  examine "$AGENT"
  forget .bash_profile bin .agent
  told "agent\|agent\|$(home_of host)/bin/agent\|login$"
  told 'version\|agent\|agent 1\.2\.3$'
  told "credentials\|agent\|$(home_of host)/.agent/login.json$"
  # shellcheck disable=SC2016
  told 'credentials\|agent\|\$AGENT_KEY$'
  ! grep -q secret "$BATS_TEST_TMPDIR/facts" || fail "a secret was told"
}

@test "22 a program that only an interactive shell finds is told as such" {
  put host .bash_profile <<<'case $- in *i*) PATH=$HOME/bin:$PATH ;; esac'
  printf '#!/bin/sh\necho 1.2.3\n' | put host bin/agent 755
  examine "$AGENT"
  forget .bash_profile bin
  told "agent\|agent\|$(home_of host)/bin/agent\|interactive$"
}

@test "22 a program that does not say its version is ended with what it started" {
  put host .bash_profile <<<'PATH=$HOME/bin:$PATH'
  printf '#!/bin/sh\nsleep 976 &\nsleep 976\n' | put host bin/agent 755
  examine "$AGENT"
  forget .bash_profile bin
  told 'version\|agent\|-$'
  spikes_wait 10 no_process_has 'sleep 976' || fail "it lives on"
}

@test "22 nothing is left on the host, with jobs there or without" {
  local home before
  home=$(home_of host)
  rm -rf "$home/.pocket"
  examine
  [ ! -e "$home/.pocket" ] || fail "a folder was made"
  told 'writable\|yes$'
  told 'links\|yes$'
  launch "$(new_id)" true
  before=$(find "$home" | sort)
  examine
  expect "the home" "$(find "$home" | sort)" "$before"
}

@test "22 a home that cannot be written to is told with the system's words" {
  need_root 'the home must belong to another'
  local home
  home=$(home_of host)
  rm -rf "$home/.pocket"
  chown root: "$home" && chmod 755 "$home"
  examine
  chown "$(awk '$1 == "bash" { print $2 }' "$SPIKES_DIR/users"):" "$home"
  told 'writable\|mkdir: .*Permission denied'
}

@test "22 the disk, the limits and the kinds of utilities are told" {
  examine
  told 'disk\|[0-9]+\|[0-9]+\|[a-z0-9]+\|/'
  told 'memory\|[0-9]+\|[0-9]+'
  told 'ulimit\|open-files\|'
  told 'utility\|base64\|/.*\|GNU'
  # This harness's sshd has a parent that never waits.
  told 'reaped\|no$'
  told "user\|$(id -un "$(stat -c %u "$(home_of host)")")\|$(home_of host)\|/.*bash$"
}
