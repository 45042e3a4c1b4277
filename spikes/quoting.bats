#!/usr/bin/env bats
# shellcheck shell=bats
# What the user gives arrives byte for byte and is nowhere taken for syntax; what the user's login
# sets up reaches the job. In all six login shells.

load harness.bash
load jobs.bash

# shellcheck disable=SC2086
setup_file() {
  spikes_start $SPIKES_SHELLS
  # All bytes but NUL.
  "$SPIKES_PYTHON" -c 'import sys; sys.stdout.buffer.write(bytes(range(1, 256)))' >"$SPIKES_DIR/bytes"
}
teardown_file() { spikes_stop; }

# shellcheck disable=SC1003
# Words that mean something to one shell or another. `pwned` must never come to be.
nasty=(
  '' ' ' 'two  spaces' "it's" '"double"' "'\"'\"'" $'a\nnewline\n' $'\ttab' $'\r'
  '$(touch $HOME/pwned)' '`touch $HOME/pwned`' '$HOME' '${HOME}' '$((1+1))' '!!' '!touch' '^a^b'
  '; touch $HOME/pwned' '& touch $HOME/pwned &' '| touch $HOME/pwned' '> pwned' '< pwned' '(touch pwned)'
  'back\slash' '\' '\\' '\n' 'ends with \' '-leading' '--' '-n' '-e' '*' '?' '[a-z]' '{a,b}' '~' '~root'
  '#comment' '%s%n' 'a=b' "\$'\\x41'" '<(touch pwned)' '"; touch $HOME/pwned; "' "'; touch \$HOME/pwned; '"
  $'\xff\xfe\x80' $'\x1b[31m' $'한글 👋' $'\x7f\x01'
)

# Runs a job in the user's home that prints each of its arguments ended by a NUL.
printing=(sh -c 'for argument; do printf "%s\0" "$argument"; done' sh)

nothing_was_run() {
  expect 'pwned files' "$(find "$SPIKES_DIR/home" -type f -name 'pwned*')" ''
}

arguments_arrive() { # SHELL
  local id SPIKES_HOST=$1 every
  export SPIKES_HOST
  need_shell "$1"
  # A command substitution would drop the newlines at the end.
  every=$(cat "$SPIKES_DIR/bytes"; printf x)
  id=$(new_id)
  launch "$id" "${printing[@]}" "${nasty[@]}" "${every%x}"
  ended_with "$id" code 0
  printf '%s\0' "${nasty[@]}" "${every%x}" >"$BATS_TEST_TMPDIR/wanted"
  same_bytes arguments "$(job_folder "$id")/out.jsonl" "$BATS_TEST_TMPDIR/wanted"
  nothing_was_run
}

@test "05 arguments of any bytes arrive byte-exact and run nothing, login shell bash" { arguments_arrive bash; }
@test "05 arguments of any bytes arrive byte-exact and run nothing, login shell dash" { arguments_arrive dash; }
@test "05 arguments of any bytes arrive byte-exact and run nothing, login shell zsh" { arguments_arrive zsh; }
@test "05 arguments of any bytes arrive byte-exact and run nothing, login shell fish" { arguments_arrive fish; }
@test "05 arguments of any bytes arrive byte-exact and run nothing, login shell tcsh" { arguments_arrive tcsh; }
@test "05 arguments of any bytes arrive byte-exact and run nothing, login shell ksh" { arguments_arrive ksh; }

# Prompt, cwd, name, program and secrets at once: $folder is the cwd's name below the home.
everything_arrives() { # SHELL
  local id folder home SPIKES_HOST=$1
  export SPIKES_HOST
  need_shell "$1"
  home=$(home_of "$1")
  for folder in $'-e "it\'s" $(touch $HOME/pwned) `touch $HOME/pwned` !! \\ \n *\xff' '--help' $'ends in newlines\n\n'; do
    id=$(new_id)
    mkdir -p "$home/$folder"
    printf '#!/bin/sh\npwd\nprintf "%%s\\0" "$SPIKE_SECRET" "$SPIKE_OTHER"\ncat\n' >"$home/$folder/-a \$(touch pwned) '\""
    chmod 755 "$home/$folder/-a \$(touch pwned) '\""
    chown -R --reference="$home" "$home/$folder"
    { cat "$SPIKES_DIR/bytes"; printf '%s\n' "${nasty[@]}" 'touch $HOME/pwned'; head -c 5000 /dev/urandom; } >"$BATS_TEST_TMPDIR/prompt"
    { printf 'SPIKE_SECRET='; cat "$SPIKES_DIR/bytes"; printf '\0SPIKE_OTHER=$(touch $HOME/pwned) `id` \\ =x\0'; } >"$BATS_TEST_TMPDIR/secrets"
    run client launch --cwd="$folder" --name="$folder" --prompt "$BATS_TEST_TMPDIR/prompt" \
      --secrets "$BATS_TEST_TMPDIR/secrets" "$id" "./-a \$(touch pwned) '\""
    grep -q '^started new ' <<<"$output" || fail "$output"
    ended_with "$id" code 0
    {
      printf '%s/%s\n' "$home" "$folder"
      cat "$SPIKES_DIR/bytes"
      printf '\0$(touch $HOME/pwned) `id` \\ =x\0'
      cat "$BATS_TEST_TMPDIR/prompt"
    } >"$BATS_TEST_TMPDIR/wanted"
    same_bytes 'cwd, secrets and prompt' "$(job_folder "$id")/out.jsonl" "$BATS_TEST_TMPDIR/wanted"
    same_bytes 'the prompt file' "$(job_folder "$id")/prompt" "$BATS_TEST_TMPDIR/prompt"
    client ask list | grep -A1 "^job $id\$" | sed -n 's/^request [0-9]* //p' | base64 -d | sed -n 's/^name=//p' | base64 -d \
      >"$BATS_TEST_TMPDIR/name"
    printf %s "$folder" >"$BATS_TEST_TMPDIR/wanted"
    same_bytes name "$BATS_TEST_TMPDIR/name" "$BATS_TEST_TMPDIR/wanted"
  done
  nothing_was_run
}

@test "05 prompt, cwd, name, program and secrets arrive byte-exact and run nothing, login shell bash" { everything_arrives bash; }
@test "05 prompt, cwd, name, program and secrets arrive byte-exact and run nothing, login shell dash" { everything_arrives dash; }
@test "05 prompt, cwd, name, program and secrets arrive byte-exact and run nothing, login shell zsh" { everything_arrives zsh; }
@test "05 prompt, cwd, name, program and secrets arrive byte-exact and run nothing, login shell fish" { everything_arrives fish; }
@test "05 prompt, cwd, name, program and secrets arrive byte-exact and run nothing, login shell tcsh" { everything_arrives tcsh; }
@test "05 prompt, cwd, name, program and secrets arrive byte-exact and run nothing, login shell ksh" { everything_arrives ksh; }

@test "05 a cwd that begins with ~/ or is relative is taken from the home, one with ~user is not" {
  home=$(home_of host)
  mkdir -p "$home/a/~" "$home/~root"
  chown -R --reference="$home" "$home/a" "$home/~root"
  while IFS='|' read -r cwd wanted; do
    id=$(new_id)
    run -0 client launch --cwd="$cwd" "$id" pwd </dev/null
    ended_with "$id" code 0
    expect "cwd $cwd" "$(cat "$(job_folder "$id")/out.jsonl")" "$wanted"
  done <<<"|$home
~|$home
~/a|$home/a
a|$home/a
a/~|$home/a/~
~root|$home/~root
/|/"
}

# A login that sets what the job must get, and a job that shows what it got.
login_reaches_job() { # SHELL
  local id home SPIKES_HOST=$1
  export SPIKES_HOST
  need_shell "$1"
  home=$(home_of "$1")
  put "$1" .bash_profile <<'LOGIN'
umask 027
export LC_ALL=ko_KR.UTF-8 LANG=ko_KR.UTF-8
PATH=$HOME/login-only:$PATH
# Names that our scripts use too.
export id=theirs job=theirs root=theirs name=theirs nonce=theirs size=theirs status=theirs command=theirs
export PYTHONUNBUFFERED=theirs CDPATH=/ prompt='two words'
LOGIN
  printf '#!/bin/sh\necho found\n' | put "$1" login-only/spike-tool 755
  id=$(new_id)
  launch "$id" sh -c 'umask; echo "$PATH"; env | grep -E "^(id|job|root|name|nonce|size|status|command|prompt|PYTHONUNBUFFERED|CDPATH|LC_ALL|LANG)=" | sort; spike-tool'
  ended_with "$id" code 0
  remote "$1" "bash -lc 'umask; echo \"\$PATH\"; env | grep -E \"^(id|job|root|name|nonce|size|status|command|prompt|PYTHONUNBUFFERED|CDPATH|LC_ALL|LANG)=\" | sort; spike-tool'" \
    >"$BATS_TEST_TMPDIR/wanted"
  same_bytes 'what the job got' "$(job_folder "$id")/out.jsonl" "$BATS_TEST_TMPDIR/wanted"
  grep -q "^$home/login-only:" "$BATS_TEST_TMPDIR/wanted"
  grep -qx 0027 "$BATS_TEST_TMPDIR/wanted"
  # Ours stay private whatever the user's umask is.
  expect 'modes' "$(stat -c '%a' "$(job_folder "$id")" "$(job_folder "$id")/out.jsonl" "$(job_folder "$id")/prompt" | tr '\n' ' ')" '700 600 600 '
  rm "$home/.bash_profile"
}

@test "19 umask, locale, PATH and exported variables of the user reach the job, login shell bash" { login_reaches_job bash; }
@test "19 umask, locale, PATH and exported variables of the user reach the job, login shell dash" { login_reaches_job dash; }
@test "19 umask, locale, PATH and exported variables of the user reach the job, login shell zsh" { login_reaches_job zsh; }
@test "19 umask, locale, PATH and exported variables of the user reach the job, login shell fish" { login_reaches_job fish; }
@test "19 umask, locale, PATH and exported variables of the user reach the job, login shell tcsh" { login_reaches_job tcsh; }
@test "19 umask, locale, PATH and exported variables of the user reach the job, login shell ksh" { login_reaches_job ksh; }

@test "19 an LC_ALL that is not set stays unset, and an empty one empty" {
  for setting in 'unset LC_ALL' 'export LC_ALL='; do
    printf '%s\n' "$setting" | put host .bash_profile
    id=$(new_id)
    launch "$id" sh -c 'echo "${LC_ALL-not set}"'
    ended_with "$id" code 0
    case $setting in unset*) wanted='not set' ;; *) wanted= ;; esac
    expect "after $setting" "$(cat "$(job_folder "$id")/out.jsonl")" "$wanted"
  done
}

# A program that only a login shell finds.
login_only_program_is_found() { # SHELL
  local id SPIKES_HOST=$1
  export SPIKES_HOST
  need_shell "$1"
  printf '#!/bin/sh\necho "found with $1"\n' | put "$1" .local/spike-bin/login-only-tool 755
  printf 'PATH="$HOME/.local/spike-bin:$PATH"\n' | put "$1" .bash_profile
  if remote "$1" login-only-tool plain 2>/dev/null; then fail 'plain ssh finds it too'; fi
  id=$(new_id)
  launch "$id" login-only-tool pocket
  ended_with "$id" code 0
  expect out "$(cat "$(job_folder "$id")/out.jsonl")" 'found with pocket'
  rm "$(home_of "$1")/.bash_profile"
}

@test "06 a program on a login-shell-only PATH is found, login shell bash" { login_only_program_is_found bash; }
@test "06 a program on a login-shell-only PATH is found, login shell dash" { login_only_program_is_found dash; }
@test "06 a program on a login-shell-only PATH is found, login shell zsh" { login_only_program_is_found zsh; }
@test "06 a program on a login-shell-only PATH is found, login shell fish" { login_only_program_is_found fish; }
@test "06 a program on a login-shell-only PATH is found, login shell tcsh" { login_only_program_is_found tcsh; }
@test "06 a program on a login-shell-only PATH is found, login shell ksh" { login_only_program_is_found ksh; }
