#!/usr/bin/env bats
# shellcheck shell=bats
# Whatever a user's startup files do, a launch works or says that it did not, and never runs a byte of
# the payload as a script. `login` is the file of the login bash that gives the environment, `own` the
# file that the login shell itself reads before it runs our command.

load harness.bash
load jobs.bash

# shellcheck disable=SC2086
setup_file() {
  spikes_start $SPIKES_SHELLS
  # As a script, this prompt would leave a file behind.
  printf '\necho >"$HOME/pwned"\necho > $HOME/pwned\n' >"$SPIKES_DIR/prompt"
}
teardown_file() { spikes_stop; }

# No test finds what another one left.
setup() {
  rm -f "$SPIKES_DIR"/home/*/{pwned,.bash_profile,.bashrc,.zshenv,.tcshrc,.environment} \
    "$SPIKES_DIR"/home/*/.config/fish/config.fish
}

# place login|own: a startup file from stdin.
place() {
  local file=.bash_profile
  if [ "$1" = own ]; then
    case $SPIKES_HOST in
      bash) file=.bashrc ;;
      zsh) file=.zshenv ;;
      fish) file=.config/fish/config.fish ;;
      tcsh) file=.tcshrc ;;
    esac
  fi
  put "$SPIKES_HOST" "$file"
}

shell() {
  export SPIKES_HOST=$1
  need_shell "$1"
}

# The job is started and gets its prompt.
launches() { # -> id
  id=$(new_id)
  run client launch --prompt "$SPIKES_DIR/prompt" --times "$BATS_TEST_TMPDIR/times" --wait-for-close 1 "$id" cat
  grep -q '^started new ' <<<"$output" || fail "$1: $output"
  ended_with "$id" code 0
  same_bytes "$1: the prompt" "$(job_folder "$id")/out.jsonl" "$SPIKES_DIR/prompt"
  nothing_was_run "$1"
}

# So it does, and the verbs that read and cancel answer too.
works() {
  local id
  launches "$1"
  follow_all "$id" "$BATS_TEST_TMPDIR/kept.$id" || fail "$1: follow"
  same_bytes "$1: what was followed" "$BATS_TEST_TMPDIR/kept.$id/out.0" "$SPIKES_DIR/prompt"
  run -0 cancel "$id"
  grep -qx leftover <<<"$output" || fail "$1: cancel: $output"
  nothing_was_run "$1"
}

# No end line comes, the client knows it, and nothing was run.
fails() {
  local id
  id=$(new_id)
  run client launch --deadline 4 --prompt "$SPIKES_DIR/prompt" "$id" cat
  [ "$status" = 1 ] || fail "$1: status $status: $output"
  grep -q '^broken: ' <<<"$output" || fail "$1: $output"
  # Time for whatever still reads the channel to do its worst.
  sleep 0.5
  [ ! -e "$(job_folder "$id")" ] || fail "$1: there is a job directory"
  nothing_was_run "$1"
}

nothing_was_run() { [ ! -e "$(home_of "$SPIKES_HOST")/pwned" ] || fail "$1: the payload was run as a script"; }

# Each line of stdin is a login file (bash); all must work.
each_login_file_works() {
  local line file
  while IFS= read -r file; do
    line=$file
    printf '%s\n' "$line" | place login
    launches "$line"
  done
  # The last one for every verb.
  works "$line"
}

@test "09 login files that print, to both streams and without a line end" {
  shell bash
  each_login_file_works <<'FILES'
echo noise; echo noise >&2; printf 'half a line'
printf '\033[2J\007'; cat /bin/true | head -c 3000
seq 1 20000
trap 'echo bye' EXIT; set -x; set -v; echo traced
FILES
}

@test "09 login files that read stdin" {
  shell bash
  each_login_file_works <<'FILES'
read -r line; read -rn 5 more; cat >/dev/null
mapfile -t lines; dd bs=1 count=100 of=/dev/null 2>/dev/null
FILES
}

@test "09 login files that set -eu, noclobber, posix, IFS and CDPATH" {
  shell bash
  each_login_file_works <<'FILES'
set -eu; set -o noclobber; set -o pipefail
set -o posix; export POSIXLY_CORRECT=1
IFS=/0123456789abcdef; export IFS
export CDPATH=/:/tmp:/usr; cd usr >/dev/null
export SHELLOPTS; set -euf -o noclobber; export BASHOPTS; shopt -s nullglob failglob
umask 777; cd /
export LC_ALL=ko_KR.UTF-8 LANG=C LANGUAGE=ko TMPDIR=/nonexistent HISTFILE=/nonexistent
export GREP_OPTIONS=-v TAR_OPTIONS=x BLOCK_SIZE=human-readable LS_COLORS=x TIME_STYLE=long-iso QUOTING_STYLE=c
export nonce=x id=../../x job=/ root=/ staging=/ tombstone=/ d=/ PS4='$(touch $HOME/pwned)'
FILES
}

@test "09 login files that define functions, exported functions and aliases called as what we use" {
  shell bash
  each_login_file_works <<'FILES'
printf() { echo bad; }; cat() { echo bad; }; eval() { echo bad; }; kill() { echo bad; }; exec() { echo bad; }; unset -f exec
for f in printf cat eval kill ls head tail rm mkdir ln read say main test [ cd umask; do builtin eval "$f() { echo bad; }"; builtin export -f "$f"; done
shopt -s expand_aliases; alias printf='echo bad' cat='echo bad' eval='echo bad' kill='echo bad' bash='echo bad' sh='echo bad'
enable -n printf kill echo test; enable -n [
echo 'printf() { echo bad; }; say() { echo bad; }; set -u -o noclobber' >"$HOME/.environment"; export BASH_ENV=$HOME/.environment ENV=$HOME/.environment
FILES
}

@test "09 login files that fail without ending" {
  shell bash
  each_login_file_works <<'FILES'
false; no-such-command; cd /nonexistent; return 1
if then fi ( ; done
unset HOME_DIRECTORY; ${undefined?nothing}
FILES
}

@test "09 login files that leave a background process holding the channel" {
  shell bash
  printf 'sleep 1000 >&8 &\nsleep 1000 &\n( exec 9>&8; exec sleep 1000 ) &\n' | place login
  # The reply is complete at its end line: nobody waits for the end of the channel.
  works 'background processes'
  read -r answered closed <"$BATS_TEST_TMPDIR/times"
  [ "$answered" -lt 10000 ]
  expect 'the channel' "$closed" open
}

@test "09 login files that exec or exit: the launch fails, and the payload is not run" {
  shell bash
  for line in 'exec dash' 'exec cat' 'exec bash <&7 >&8' 'exit 0' 'exit 3' 'kill -9 $$' 'exec sh -c "cat <&7 >&8"'; do
    printf '%s\n' "$line" | place login
    fails "$line"
  done
}

@test "09 login files that block: the launch ends at its deadline" {
  shell bash
  printf 'sleep 1000\n' | place login
  before=$(milliseconds)
  fails 'sleep 1000'
  [ $(($(milliseconds) - before)) -lt 12000 ]
}

# What the login shell's own file may do, in its own syntax: prints half a line, reads one line, leaves
# a process behind, defines functions or aliases.
own_file_works() { # SHELL
  shell "$1"
  place own
  works "own file of $1"
}

@test "09 bash's own file prints, reads a line, defines functions and leaves a process" {
  own_file_works bash <<'FILE'
echo noise; read -r line; sleep 1000 & printf() { echo bad; }; cat() { echo bad; }; eval() { echo bad; }; kill() { echo bad; }
export -f printf cat eval kill; set -u -o noclobber; IFS=0; CDPATH=/usr; builtin printf 'half a line'
FILE
}

@test "09 zsh's own file prints, reads a line, defines functions and leaves a process" {
  own_file_works zsh <<'FILE'
echo noise; read -r line; sleep 1000 & printf() { echo bad; }; cat() { echo bad; }; eval() { echo bad; }; kill() { echo bad; }
setopt noclobber nounset extendedglob; IFS=0; CDPATH=/usr; builtin printf 'half a line'
FILE
}

@test "09 fish's own file prints, reads a line, defines functions and leaves a process" {
  own_file_works fish <<'FILE'
echo noise; read line; sleep 1000 &
function printf; echo bad; end; function cat; echo bad; end; function kill; echo bad; end
set -gx CDPATH /usr; echo -n 'half a line'
FILE
}

@test "09 tcsh's own file prints, reads a line, defines aliases and leaves a process" {
  own_file_works tcsh <<'FILE'
echo noise; set line = "$<"; sleep 1000 &
alias printf 'echo bad'; alias cat 'echo bad'; alias kill 'echo bad'; set noclobber; set cdpath = (/usr)
echo -n 'half a line'
FILE
}

# What the login shell's own file may do that no command survives.
own_file_fails() { # SHELL LINE...
  shell "$1"
  shift
  for line; do
    printf '%s\n' "$line" | place own
    fails "$line"
  done
}

@test "09 bash's own file that execs a shell, exits, or eats stdin: the payload is not run" {
  own_file_fails bash 'exec dash' 'exec bash --norc --noprofile' 'exit 3' 'cat >/dev/null' 'exec cat'
}

@test "09 zsh's own file that execs a shell, exits, or eats stdin: the payload is not run" {
  own_file_fails zsh 'exec sh' 'exit 3' 'cat >/dev/null'
}

@test "09 fish's own file that execs a shell, or eats stdin: the payload is not run" {
  own_file_fails fish 'exec sh' 'cat >/dev/null'
}

@test "09 tcsh's own file that execs a shell, or eats stdin: the payload is not run" {
  own_file_fails tcsh 'exec sh' 'cat >/dev/null'
}

@test "09 sent before ready, the payload of such a launch is run as a script" {
  # The reason for the rule: without it the tests above would see what they look for.
  shell bash
  echo 'exec dash' | place own
  run client launch --unbidden --deadline 4 --prompt "$SPIKES_DIR/prompt" "$(new_id)" cat
  spikes_wait 3 test -e "$(home_of bash)/pwned"
}
